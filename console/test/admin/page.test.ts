import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import t from 'tap'
import { checkConsoleConfig, ConsoleConfig } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { createLogger } from '@intake/runtime/process'
import { startAdmin } from '../../../packages/http-edge/test/admin/start-admin.ts'
import { createPage } from '../../src/admin/page.ts'
import { icon } from '../../src/page/assets.ts'
import { calmState, emptyReader } from '../page/fixture.ts'

const password = 'a password of the test'

t.test('TRUST_PROXY=1: ten wrong passwords of an address lock out no other one', async (t) => {
  const config = loadConfig(ConsoleConfig, {
    REDIS_URL: 'redis://x',
    CLICKHOUSE_URL: 'http://x',
    PAGE_PASSWORD: password,
    TRUST_PROXY: '1',
  })
  checkConsoleConfig(config)
  const port = await startAdmin(t, {
    page: createPage({
      config,
      reader: emptyReader,
      store: undefined,
      state: calmState,
      log: createLogger({ name: 'console', level: 'fatal' }),
      onFailed: () => {},
    }),
  })
  /** What a proxy passes on for this address: it appends the address to what the client sent. */
  const statusFor = async (address: string, given: string) => {
    const authorization = `Basic ${Buffer.from(`anyone:${given}`).toString('base64')}`
    const headers = { authorization, 'x-forwarded-for': `203.0.113.9, ${address}` }
    const sent = request({ host: '127.0.0.1', port, path: icon.path, headers }).end()
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  for (let n = 0; n < 10; n++) t.equal(await statusFor('192.0.2.1', `guess ${n}`), 401)
  t.equal(await statusFor('192.0.2.1', password), 429)
  t.equal(await statusFor('192.0.2.2', password), 200)
})
