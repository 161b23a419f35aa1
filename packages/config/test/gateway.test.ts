import t from 'tap'
import { limits } from '@intake/contract'
import { loadConfig } from '@intake/runtime/config'
import { ConfigError } from '@intake/runtime'
import { GatewayConfig } from '../src/gateway.ts'

const load = (env: Record<string, string>) =>
  loadConfig(GatewayConfig, { REDIS_URL: 'redis://x', S3_ENDPOINT: 'http://x', ...env })

t.test('the defaults do not contradict each other', async () => {
  load({})
})

t.test('an invalid URL is reported with all other problems, without its value', async (t) => {
  const wrong = { PORT: 'abc', RATE_LIMIT_MAX: '-1', REDIS_URL: 'foo', S3_ENDPOINT: 'bar' }
  t.throws(() => load(wrong), {
    message: /^(?=.*PORT)(?=.*RATE_LIMIT_MAX)(?=.*REDIS_URL)(?=.*S3_ENDPOINT)(?!.*(foo|bar))/,
  })
})

t.test('CONNECTIONS_MAX allows at least one request', async (t) => {
  t.throws(() => load({ CONNECTIONS_MAX: '1' }), ConfigError)
})

t.test('a feedback must be stored while it can be acknowledged', async (t) => {
  t.throws(() => load({ ENQUEUE_TIMEOUT_MS: '10001' }), ConfigError)
  const { ENQUEUE_TIMEOUT_MS: enqueueMs } = load({ ENQUEUE_TIMEOUT_MS: '10000' })
  // The longest case has three steps: the attachments are stored, the feedback is enqueued, and
  // either its key is reserved or, after a failure, its attachments are removed.
  const longestMs = Math.max(enqueueMs, limits.storageMs) + limits.storageMs + enqueueMs
  t.ok(longestMs <= limits.acceptanceMs.feedback)
})

t.test('the memory for requests must fit the largest request of each kind', async (t) => {
  const wrong = { BATCH_BODY_BYTES_MAX: '20000000', ATTACHMENT_BYTES_MAX: '40000000' }
  t.throws(() => load(wrong), {
    message: /at least \d+ for BATCH_BODY_BYTES_MAX; .* at least \d+ for ATTACHMENT_BYTES_MAX/,
  })
  t.throws(() => load({ BYTES_IN_FLIGHT_MAX: '10000000' }), {
    message: /BYTES_IN_FLIGHT_MAX must be at least 18485760 for a log/,
  })
})

t.test('only a Redis Cluster has several shards, which workers serve there', async (t) => {
  const shards = { QUEUE_SHARDS: '2' }
  t.throws(() => load(shards), { message: /QUEUE_SHARDS .* Redis Cluster/ })
  load({ ...shards, REDIS_URL: 'rediss+cluster://a:6379,b:6379' })
})
