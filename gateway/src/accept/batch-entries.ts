import { compileSchema, IntakeError, limits, LogEntry } from '@intake/contract'
import type { ExtraPrinter } from '../record/extra.ts'
import { checkJson } from '../body/check-json.ts'
import { takeUnknown } from '../record/log-fields.ts'
import { identityBytes, logColumns } from '../record/row.ts'

/** The intermediate result for an entry, or why it is rejected. */
export type OrRejection<Progress> = Progress | IntakeError

/** An entry that can be stored. */
export interface Entry {
  log: LogEntry
  /** The entry's row without the identity. */
  columns: string
}

const validateEntry = compileSchema(LogEntry)
/** The root of the document and the array `logs` are the two levels above an entry. */
const entryDepthMax = limits.jsonDepth - 2

/**
 * Reads and validates the entries of a batch, each independently.
 *
 * @param options.sender from `senderColumns`
 * @param options.extra prints the unknown fields
 * @param options.isPlain the parser has already made the checks of `checkJson`
 * @param options.bytesMax the maximum size of a row
 */
export function createEntryReader(options: {
  sender: string
  extra: ExtraPrinter
  isPlain: boolean
  bytesMax: number
}): (value: unknown, index: number) => OrRejection<Entry> {
  const { sender, extra, isPlain, bytesMax } = options
  /**
   * A row of at most this many UTF-16 units fits, because a unit takes at most three bytes of
   * UTF-8.
   */
  const unitsMax = (bytesMax - identityBytes) / 3
  return (value, index) => {
    try {
      if (!isPlain) checkJson(value, { depthMax: entryDepthMax, pointer: `/logs/${index}` })
      const log = validateEntry(value, `/logs/${index}`)
      const unknown = takeUnknown(log)
      const columns = logColumns(sender, log, { extra: extra.print(unknown), isPlain })
      if (columns.length <= unitsMax) return { log, columns }
      if (Buffer.byteLength(columns) + identityBytes <= bytesMax) return { log, columns }
      return new IntakeError('body_too_large', `An entry must not exceed ${bytesMax} bytes.`)
    } catch (error) {
      return rejection(error)
    }
  }
}

/** Why an entry is rejected. Errors of the whole request are rethrown. */
export function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}
