import type { SenderRules } from '@intake/access'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, isTimestamp, LogEntry } from '@intake/contract/schemas'
import { checkJson } from '@intake/json'
import { unknownFields } from '../record/extra.ts'
import { identityBytes, type Extra } from '../record/row.ts'
import type { LogPrinter, LogRecord } from './log-record.ts'

/** A log event of a batch, or only the error for which it is rejected. */
export type Entry = LogRecord | Rejected

export interface Rejected {
  error: IntakeError
}

const validateEntry = compileSchema(LogEntry)
const logFields: ReadonlySet<string> = new Set(Object.keys(LogEntry.properties))
/** The maximum depth of an entry. The root of the document and the array `logs` use two levels. */
const entryDepthMax = limits.jsonDepth - 2
/** The maximum size of a row in UTF-8: an entry with the device. */
const bytesMax = limits.logBytes
/** A unit of UTF-16 takes at most three bytes of UTF-8, so columns of this many always fit. */
const unitsMax = (bytesMax - identityBytes) / 3

/**
 * Creates a function that validates one entry of a batch, independently of the other entries, and
 * prints its columns.
 *
 * @param options.isChecked whether the parser has already made the checks of `checkJson`
 */
export function createEntryReader(options: {
  printer: LogPrinter
  rules: SenderRules | undefined
  isChecked: boolean
}): (value: unknown, index: number) => Entry {
  const { printer, rules, isChecked } = options
  return (value, index) => {
    try {
      if (!isChecked) checkJson(value, { depthMax: entryDepthMax, pointer: `/logs/${index}` })
      const log = validateEntry(value, `/logs/${index}`)
      let unknown = unknownFields(log, logFields)
      if (log.timestamp != null && !isTimestamp(log.timestamp)) {
        unknown = takeTimestamp(log, unknown)
      }
      const ruling = rules?.judge(log.event)
      const columns = printer.columns(log, unknown, ruling)
      if (columns.length > unitsMax && Buffer.byteLength(columns) + identityBytes > bytesMax) {
        throw new IntakeError('body_too_large', `An entry must not exceed ${bytesMax} bytes.`)
      }
      return { log, columns, ruling, identity: undefined, first: undefined, error: undefined }
    } catch (error) {
      return { error: rejection(error) }
    }
  }
}

/** Returns the error if it rejects only the entry; rethrows any other. */
export function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}

/**
 * Makes an invalid timestamp an unknown field: a wrong clock or calendar must not reject an entry.
 */
function takeTimestamp(entry: LogEntry, unknown: Extra): Extra {
  const { timestamp } = entry
  entry.timestamp = null
  return Object.assign(Object.create(null) as Record<string, unknown>, unknown, { timestamp })
}
