import t from 'tap'
import { createIdentity } from '@intake/identity'
import { IntakeError } from '@intake/contract'
import type { LogBatchResult } from '@intake/contract/schemas'
import { entryResults, printBatchResult } from '../../src/accept/batch-results.ts'

t.test('the result of a batch is printed as JSON.stringify prints it', async (t) => {
  const row = () => ({
    ...createIdentity(Date.now()),
    partition: '',
    json: '',
    apiKeyId: '',
    receivedAtMs: 0,
  })
  const refusal = new IntakeError('invalid_request', 'a "quoted" detail', {
    errors: [{ pointer: '/logs/0/event', detail: 'is required' }],
    members: { server_time: '2026-11-26T00:00:00.000Z' },
  })
  for (const outcomes of [
    [row()],
    [refusal],
    [row(), refusal, row()],
    Array.from({ length: 15 }, () => refusal),
  ]) {
    const results = entryResults(outcomes)
    const result: LogBatchResult = { message: 'Logs processed', accepted: 2, rejected: 1, results }
    t.equal(printBatchResult(result), JSON.stringify(result))
  }
})
