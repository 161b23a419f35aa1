import t from 'tap'
import { GatewayConfig, WorkerConfig } from '../src/index.ts'

t.test('settings that are secrets are marked, so that they are not logged', async (t) => {
  const settings = Object.entries({ ...GatewayConfig.properties, ...WorkerConfig.properties })
  const secrets = settings.filter(([name]) => /PASSWORD|SECRET|TOKEN/.test(name))
  t.ok(secrets.length >= 3)
  for (const [name, setting] of secrets) t.match(setting, { writeOnly: true }, name)
  const urls = settings.filter(([name]) => /URL$|ENDPOINT$/.test(name))
  t.ok(urls.length >= 6)
  for (const [name, setting] of urls) {
    const { writeOnly, hasCredentials } = setting as {
      writeOnly?: boolean
      hasCredentials?: boolean
    }
    t.ok(writeOnly ?? hasCredentials, name)
  }
})
