import { isLeftOut } from '@intake/access'
import { limits, type IntakeError } from '@intake/contract'
import type { LogBatchResult, LogEntryResult } from '@intake/contract/schemas'
import type { Entry } from './batch-entries.ts'
import type { LogRecord } from './log-record.ts'

/**
 * Returns the response to a batch. Only the first rejected entries have details, so that a batch
 * full of errors does not cause a response many times its size.
 */
export function batchResult(entries: readonly Entry[]): LogBatchResult {
  let rejected = 0
  const results: LogEntryResult[] = []
  for (const entry of entries) {
    const { error } = entry
    if (error !== undefined) results.push(rejectedResult(error, ++rejected))
    else if ('log' in entry) results.push(acceptedResult(entry))
  }
  return { message: 'Logs processed', accepted: entries.length - rejected, rejected, results }
}

function rejectedResult(error: IntakeError, number: number): LogEntryResult {
  const { code, message, errors, members } = error
  if (number > limits.explainedEntries) return { status: 'rejected', code, ...members }
  return { status: 'rejected', code, detail: message, errors: [...errors], ...members }
}

function acceptedResult(entry: LogRecord): LogEntryResult {
  const { ruling, identity } = entry.first ?? entry
  if (identity === undefined) throw new Error('an accepted entry has no identity')
  const isDropped = ruling !== undefined && isLeftOut(ruling)
  return { status: isDropped ? 'dropped' : 'accepted', id: identity.id }
}

/** Prints accepted entries without `JSON.stringify`, which would take three times as long. */
export function printBatchResult({ results, ...counts }: LogBatchResult): string {
  let printed = ''
  for (const one of results) {
    const entry =
      one.status === 'accepted' ? `{"status":"accepted","id":"${one.id}"}` : JSON.stringify(one)
    printed += printed === '' ? entry : `,${entry}`
  }
  return `${JSON.stringify(counts).slice(0, -1)},"results":[${printed}]}`
}
