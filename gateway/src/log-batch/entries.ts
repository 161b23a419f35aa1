import { compileSchema, IntakeError, limits, LogEntry } from '@intake/contract'
import { unknownFields, type ExtraPrinter } from '../extra.ts'
import { checkJson } from '../json.ts'
import { logFields } from '../routes/log-fields.ts'
import { identityBytes, logColumns } from '../row.ts'

/** What became of an entry so far, or why it is rejected. */
export type Outcome<Progress> = Progress | IntakeError

/** An entry that can be stored. */
export interface Entry {
  log: LogEntry
  /** Its row, but for the identity. */
  columns: string
}

const validateEntry = compileSchema(LogEntry)
/** An entry lies two levels below the document. */
const entryDepthMax = limits.jsonDepth - 2

/**
 * Reads entries of one batch, as far as each can be judged alone.
 *
 * @param options.sender of `senderColumns`
 * @param options.extra of the batch
 * @param options.bytesMax of a row
 */
export function createEntryReader(options: {
  sender: string
  extra: ExtraPrinter
  bytesMax: number
}): (value: unknown, index: number) => Outcome<Entry> {
  const { sender, extra, bytesMax } = options
  return (value, index) => {
    try {
      checkJson(value, { depthMax: entryDepthMax, pointer: `/logs/${index}` })
      const log = validateEntry(value, `/logs/${index}`)
      const columns = logColumns(sender, log, extra.print(unknownFields(log, logFields)))
      if (Buffer.byteLength(columns) + identityBytes <= bytesMax) return { log, columns }
      return new IntakeError('body_too_large', `An entry must not exceed ${bytesMax} bytes.`)
    } catch (error) {
      return rejection(error)
    }
  }
}

/** Why an entry is rejected. What concerns the whole request is thrown on. */
export function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}
