import t from 'tap'
import { inspect } from 'node:util'
import { loadConfig } from '@intake/runtime/config'
import { ConsoleConfig, GatewayConfig, objectStoreSettings, WorkerConfig } from '../src/index.ts'

t.test('settings that are secrets are marked, so that they are not logged', async (t) => {
  const settings = Object.entries({
    ...GatewayConfig.properties,
    ...WorkerConfig.properties,
    ...ConsoleConfig.properties,
  })
  const secrets = settings.filter(([name]) => /PASSWORD|SECRET|TOKEN/.test(name))
  t.ok(secrets.length >= 3)
  for (const [name, setting] of secrets) t.match(setting, { writeOnly: true }, name)
  // PUBLIC_URL and PAGE_URL contain no secret, because clients and readers open them.
  const known = new Set(['PUBLIC_URL', 'PAGE_URL'])
  const urls = settings.filter(([name]) => /URL$|ENDPOINT$/.test(name) && !known.has(name))
  t.ok(urls.length >= 6)
  for (const [name, setting] of urls) {
    const { writeOnly, hasCredentials } = setting as {
      writeOnly?: boolean
      hasCredentials?: boolean
    }
    t.ok(writeOnly ?? hasCredentials, name)
  }
})

/** Malformed values. Each has the secret at a place that a parser might quote in its error. */
const malformed: ((marker: string) => string)[] = [
  (marker) => marker,
  (marker) => `https://${marker}`,
  (marker) => `https://user:${marker}@`,
  (marker) => `https://user:${marker}@host:99999/`,
  (marker) => `https://user:${marker}/x@host`,
  (marker) => `https://user:%${marker}@host`,
  (marker) => `https://host:99999/${marker}`,
  (marker) => `https://host/${marker}?${marker}#${marker}`,
  (marker) => `https://[${marker}`,
  (marker) => `redis://default:${marker}@[::1`,
  (marker) => `redis+sentinel://default:${marker}@host`,
  (marker) => `rediss+cluster://:${marker}@,`,
  (marker) => `redis://user:${marker}@host/notanumber`,
  (marker) => `whsec_${marker}`,
  (marker) => `${marker}\n${marker}`,
  (marker) => `${marker}\u0000`,
  (marker) => ` ${marker} `,
  (marker) => marker.repeat(100),
]

t.test('no error about a setting repeats a secret of it', async (t) => {
  const marker = 'SeCrEtMaRkEr'
  for (const schema of [GatewayConfig, WorkerConfig, ConsoleConfig]) {
    const secrets = Object.entries(schema.properties).flatMap(([name, property]) => {
      const { writeOnly, hasCredentials } = property as {
        writeOnly?: boolean
        hasCredentials?: boolean
      }
      return (writeOnly ?? hasCredentials) ? [name] : []
    })
    t.ok(secrets.length >= (schema === WorkerConfig ? 2 : 8))
    for (const name of secrets) {
      for (const form of malformed) {
        const value = form(marker)
        const env = {
          REDIS_URL: 'redis://x',
          CLICKHOUSE_URL: 'http://x',
          S3_ENDPOINT: 'http://k:s@x',
          FEEDBACK_WEBHOOK_SECRET: 'a text of 16 characters',
          [name]: value,
        }
        const said: unknown[] = []
        try {
          const config = loadConfig(schema as typeof ConsoleConfig, env)
          if ('S3_BUCKET' in config)
            objectStoreSettings({ ...config, S3_ENDPOINT: env.S3_ENDPOINT })
        } catch (error) {
          said.push(error)
        }
        t.notMatch(inspect(said, { depth: 10 }), marker, `${name}: ${JSON.stringify(value)}`)
      }
    }
  }
})
