import type { Ruling, SenderRules } from '@intake/access'
import { IntakeError, limits } from '@intake/contract'
import { compileSchema, LogEntry } from '@intake/contract/schemas'
import type { ExtraPrinter } from '../record/extra.ts'
import { checkJson } from '../body/check-json.ts'
import { takeUnknown } from '../record/log-fields.ts'
import { identityBytes, logColumns, type Extra } from '../record/row.ts'
import { editLog } from './apply-rules.ts'

/** The intermediate result for an entry, or the error for which the entry is rejected. */
export type OrRejection<Progress> = Progress | IntakeError

export interface Entry {
  log: LogEntry
  /** The entry's row without the identity; empty if a rule leaves the entry out. */
  columns: string
  /** What the rules decide about the event; undefined if no rule applies. */
  ruling: Ruling | undefined
}

/** The rules about the entries of a batch, and what is needed to apply them. */
export interface EntryRules {
  rules: SenderRules
  /**
   * Prints the `extra` column of an entry. Made by `createExtraEditor` from the unknown fields of
   * the batch.
   */
  editExtra: (inEntry: Extra, ruling: Ruling) => string | undefined
  /** Prints the columns of the sender. Made by `createSenderPrinter`. */
  printSender: (ruling: Ruling) => string
}

const validateEntry = compileSchema(LogEntry)
/** The maximum depth of an entry. The root of the document and the array `logs` use two levels. */
const entryDepthMax = limits.jsonDepth - 2

/**
 * Creates a function that validates one entry of a batch, independently of the other entries, and
 * prints its columns.
 *
 * @param options.sender the columns of the sender, from `senderColumns`
 * @param options.extra prints the unknown fields of an entry and of the batch
 * @param options.isPlain whether the parser has already made the checks of `checkJson`
 * @param options.bytesMax the maximum size of a row in UTF-8
 * @param options.ruled undefined if no rule concerns the sender
 */
export function createEntryReader(options: {
  sender: string
  extra: ExtraPrinter
  isPlain: boolean
  bytesMax: number
  ruled: EntryRules | undefined
}): (value: unknown, index: number) => OrRejection<Entry> {
  const { sender, extra, isPlain, bytesMax, ruled } = options
  /**
   * Columns of at most this many UTF-16 units always fit into a row, because a unit takes at most
   * three bytes of UTF-8.
   */
  const unitsMax = (bytesMax - identityBytes) / 3
  return (value, index) => {
    try {
      if (!isPlain) checkJson(value, { depthMax: entryDepthMax, pointer: `/logs/${index}` })
      const log = validateEntry(value, `/logs/${index}`)
      const unknown = takeUnknown(log)
      const ruling = ruled?.rules.judge(log.event)
      const columns =
        ruled === undefined || ruling === undefined
          ? logColumns(sender, log, { extra: extra.print(unknown), isPlain })
          : ruledColumns(log, { unknown, ruling, ruled })
      if (columns.length <= unitsMax) return { log, columns, ruling }
      if (Buffer.byteLength(columns) + identityBytes <= bytesMax) return { log, columns, ruling }
      return new IntakeError('body_too_large', `An entry must not exceed ${bytesMax} bytes.`)
    } catch (error) {
      return rejection(error)
    }
  }
}

/**
 * Applies the edits of the rules to an entry and prints its columns; empty if a rule leaves the
 * entry out.
 */
function ruledColumns(
  log: LogEntry,
  { unknown, ruling, ruled }: { unknown: Extra; ruling: Ruling; ruled: EntryRules },
): string {
  if (ruling.outcome !== 'accepted') return ''
  return logColumns(ruled.printSender(ruling), editLog(log, ruling), {
    extra: ruled.editExtra(unknown, ruling),
    // The edited entry is checked again, because an edit can make an array that ClickHouse would
    // change.
    isPlain: false,
    sampleRate: ruling.sampleRate,
  })
}

/**
 * Returns the error if it rejects only the entry. Rethrows any other error, which fails the whole
 * request.
 */
export function rejection(error: unknown): IntakeError {
  if (error instanceof IntakeError && error.status < 500) return error
  throw error
}
