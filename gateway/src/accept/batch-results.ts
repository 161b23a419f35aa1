import { IntakeError, limits } from '@intake/contract'
import type { LogBatchResult, LogEntryResult } from '@intake/contract/schemas'
import type { Row } from '../record/row.ts'
import type { OrRejection } from './batch-entries.ts'

/** An accepted entry that a rule of the operator leaves out. */
export interface Dropped {
  isDropped: true
  id: string
}

/** The result of an entry: its row, `Dropped`, or the error for which it is rejected. */
export type EntryOutcome = OrRejection<Row | Dropped>

/**
 * Returns the result of each entry, in order. Only the first ten rejected entries have details, so
 * that a batch full of errors does not cause a response many times its size.
 */
export function entryResults(outcomes: readonly EntryOutcome[]): LogEntryResult[] {
  let rejected = 0
  return outcomes.map((outcome) => {
    if (!(outcome instanceof IntakeError)) {
      return { status: 'isDropped' in outcome ? 'dropped' : 'accepted', id: outcome.id }
    }
    const { code, message, errors, members } = outcome
    rejected++
    return rejected > limits.explainedEntries
      ? { status: 'rejected', code, ...members }
      : { status: 'rejected', code, detail: message, errors: [...errors], ...members }
  })
}

/**
 * Prints the response to a batch as JSON. Accepted entries, which are the most frequent, are
 * printed without `JSON.stringify`, which would take three times as long.
 */
export function printBatchResult({ results, ...counts }: LogBatchResult): string {
  const entries = results.map((one) =>
    one.status === 'accepted' ? `{"status":"accepted","id":"${one.id}"}` : JSON.stringify(one),
  )
  return `${JSON.stringify(counts).slice(0, -1)},"results":[${entries.join()}]}`
}
