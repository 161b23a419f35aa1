import { isLeftOut } from '@intake/access'
import { limits } from '@intake/contract'
import type { LogBatchResult, LogEntryResult } from '@intake/contract/schemas'
import type { Entry } from './batch-entries.ts'
import type { LogRecord } from './log-record.ts'

/**
 * Returns the response to a batch, with the result of each entry in order. Only the first ten
 * rejected entries have details, so that a batch full of errors does not cause a response many
 * times its size.
 */
export function batchResult(entries: readonly Entry[]): LogBatchResult {
  let rejected = 0
  const results = entries.map((entry): LogEntryResult => {
    if (isAccepted(entry)) return acceptedResult(entry)
    const { code, message, errors, members } = entry.error
    rejected++
    return rejected > limits.explainedEntries
      ? { status: 'rejected', code, ...members }
      : { status: 'rejected', code, detail: message, errors: [...errors], ...members }
  })
  return { message: 'Logs processed', accepted: entries.length - rejected, rejected, results }
}

const isAccepted = (entry: Entry): entry is LogRecord => entry.error === undefined

function acceptedResult(entry: LogRecord): LogEntryResult {
  const { ruling, identity } = entry.first ?? entry
  if (identity === undefined) throw new Error('an accepted entry has no identity')
  return { status: isLeftOut(ruling) ? 'dropped' : 'accepted', id: identity.id }
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
