import t from 'tap'
import { errorCatalogue } from '@intake/contract'

t.test('exactly the errors with a status for retries are retryable', async (t) => {
  const retryStatuses = new Set([408, 429, 502, 503, 504])
  for (const [code, { status, retryable }] of Object.entries(errorCatalogue)) {
    t.equal(retryable, retryStatuses.has(status), code)
  }
})
