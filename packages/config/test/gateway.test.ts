import t from 'tap'
import { ConfigError, loadConfig } from '@intake/runtime'
import { checkGatewayConfig, GatewayConfig } from '../src/gateway.ts'

const load = (env: Record<string, string>) =>
  loadConfig(GatewayConfig, { REDIS_URL: 'redis://x', S3_ENDPOINT: 'http://x', ...env })

const defaults = load({})

t.test('the defaults do not contradict each other', async () => {
  checkGatewayConfig(defaults)
})

t.test(
  'an invalid URL is reported together with all other problems, without its value',
  async (t) => {
    const wrong = { PORT: 'abc', RATE_LIMIT_MAX: '-1', REDIS_URL: 'foo', S3_ENDPOINT: 'bar' }
    t.throws(() => load(wrong), {
      message: /^(?=.*PORT)(?=.*RATE_LIMIT_MAX)(?=.*REDIS_URL)(?=.*S3_ENDPOINT)(?!.*(foo|bar))/,
    })
  },
)

t.test('CONNECTIONS_MAX allows at least one request', async (t) => {
  t.throws(() => load({ CONNECTIONS_MAX: '1' }), ConfigError)
})

t.test('the response timeout covers the longest feedback request', async (t) => {
  const times: [storage: number, enqueue: number, needed: number][] = [
    // A key is reserved and the record enqueued, around its images.
    [1_000, 10_000, 21_000],
    // Images are stored, and removed when the record could not be enqueued.
    [10_000, 1_000, 21_000],
  ]
  for (const [storage, enqueue, needed] of times) {
    const config = { ...defaults, STORAGE_TIMEOUT_MS: storage, ENQUEUE_TIMEOUT_MS: enqueue }
    checkGatewayConfig({ ...config, RESPONSE_TIMEOUT_MS: needed })
    const tooShort = () => checkGatewayConfig({ ...config, RESPONSE_TIMEOUT_MS: needed - 1 })
    t.throws(tooShort, { message: /RESPONSE_TIMEOUT_MS must be at least 21000/ })
  }
})

t.test('a feedback must be stored while it can be acknowledged', async (t) => {
  const config = { ...defaults, RESPONSE_TIMEOUT_MS: 60_000, ENQUEUE_TIMEOUT_MS: 4_000 }
  checkGatewayConfig({ ...config, STORAGE_TIMEOUT_MS: 13_000 })
  const tooLong = () => checkGatewayConfig({ ...config, STORAGE_TIMEOUT_MS: 13_001 })
  t.throws(tooLong, { message: /STORAGE_TIMEOUT_MS, .* at most 30000/ })
  t.throws(() => load({ ENQUEUE_TIMEOUT_MS: '10001' }), ConfigError)
})
