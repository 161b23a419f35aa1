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

t.test('a feedback must be stored while it can be acknowledged', async (t) => {
  const config = { ...defaults, ENQUEUE_TIMEOUT_MS: 4_000 }
  checkGatewayConfig({ ...config, STORAGE_TIMEOUT_MS: 13_000 })
  const tooLong = () => checkGatewayConfig({ ...config, STORAGE_TIMEOUT_MS: 13_001 })
  t.throws(tooLong, { message: /STORAGE_TIMEOUT_MS, .* at most 30000/ })
  t.throws(() => load({ ENQUEUE_TIMEOUT_MS: '10001' }), ConfigError)
})
