import { isLeftOut, type Ruling } from '@intake/access'
import type { IntakeError } from '@intake/contract'
import type { LogEntry } from '@intake/contract/schemas'
import type { Identity } from '@intake/identity'
import { type PrintJson } from '@intake/json'
import { createExtraPrinter, type PrintExtra } from '../record/extra.ts'
import { finishRow, logColumns, senderColumns, type Extra, type Row } from '../record/row.ts'
import type { Admitted } from './acceptance.ts'
import { createRuledPrinter } from './apply-rules.ts'

/** A log event of a request, and what has been decided about it so far. */
export interface LogRecord {
  log: LogEntry
  /** The row without the identity; empty if a rule leaves the event out. */
  columns: string
  ruling: Ruling | undefined
  identity: Identity | undefined
  /** The earlier entry of the batch that has the same id and content; undefined if there is none. */
  first: LogRecord | undefined
  error: IntakeError | undefined
}

export type LogPrinter = ReturnType<typeof createLogPrinter>

/**
 * Prints the columns of the log events of one request; prints only once what they share.
 *
 * @param submission the unknown fields of the submission, besides those of its events
 */
export function createLogPrinter(
  { context, sender, rules }: Pick<Admitted, 'context' | 'sender' | 'rules'>,
  submission: Extra,
  print: PrintJson,
) {
  // A copy, because printing changes the device.
  const unprinted = rules && { ...sender, device: { ...sender.device } }
  const unchanged = senderColumns(context, sender, print)
  // Created when it is first needed, because most requests have no unknown field.
  let printExtra: PrintExtra | undefined
  const extra = (inRecord: Extra) =>
    (printExtra ??= createExtraPrinter(submission, 'log'))(inRecord)
  const printRuled =
    unprinted && createRuledPrinter({ context, sender: unprinted, unchanged, submission })
  return {
    shared: () => unchanged + (extra(undefined) ?? ''),
    /** Returns the row of an event without the identity; empty if a rule leaves the event out. */
    columns(log: LogEntry, unknown: Extra, ruling: Ruling | undefined): string {
      if (ruling === undefined || printRuled === undefined) {
        const hasExtra = submission !== undefined || unknown !== undefined
        return logColumns(unchanged, log, { extra: hasExtra ? extra(unknown) : undefined, print })
      }
      return isLeftOut(ruling) ? '' : printRuled(log, unknown, ruling)
    },
  }
}

/** Completes the rows of the events that are stored: neither rejected, repeated nor left out. */
export function rowsOf(
  records: readonly Partial<LogRecord>[],
  context: Admitted['context'],
): Row[] {
  const rows: Row[] = []
  for (const { error, first, ruling, identity, columns } of records) {
    if (error !== undefined || first !== undefined) continue
    if (ruling !== undefined && isLeftOut(ruling)) continue
    if (identity === undefined || columns === undefined) throw new Error('a record has no identity')
    rows.push(finishRow({ identity, context, others: columns }))
  }
  return rows
}
