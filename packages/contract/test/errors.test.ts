import t from 'tap'
import { errorCatalogue, IntakeError } from '@intake/contract'

t.test('exactly the errors with a status for retries are retryable', async (t) => {
  const retryStatuses = new Set([408, 429, 502, 503, 504])
  for (const [code, { status, retryable }] of Object.entries(errorCatalogue)) {
    t.equal(retryable, retryStatuses.has(status), code)
  }
})

t.test('an error has no stack trace, but its cause and later errors have one', async (t) => {
  const error = new IntakeError('busy', 'Wait.', { cause: new Error('why') })
  t.equal(error.stack, 'IntakeError: Wait.')
  t.match(String((error.cause as Error).stack), /\n +at /)
  t.match(String(new Error('later').stack), /\n +at /)
})
