import t from 'tap'
import { createIdentity } from '@intake/identity'
import { IntakeError } from '@intake/contract'
import type { Entry } from '../../src/accept/batch-entries.ts'
import { batchResult, printBatchResult } from '../../src/accept/batch-results.ts'

t.test('the result of a batch is printed as JSON.stringify prints it', async (t) => {
  const accepted = (): Entry => ({
    log: { event: 'e' },
    columns: '',
    ruling: undefined,
    identity: createIdentity(Date.now()),
    first: undefined,
    error: undefined,
  })
  const refusal = new IntakeError('invalid_request', 'a "quoted" detail', {
    errors: [{ pointer: '/logs/0/event', detail: 'is required' }],
    members: { server_time: '2026-11-26T00:00:00.000Z' },
  })
  const rejected = (): Entry => ({ error: refusal })
  for (const entries of [
    [accepted()],
    [rejected()],
    [accepted(), rejected(), accepted()],
    Array.from({ length: 15 }, rejected),
  ]) {
    const result = batchResult(entries)
    t.equal(printBatchResult(result), JSON.stringify(result))
  }
})
