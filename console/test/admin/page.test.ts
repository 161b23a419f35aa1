import t from 'tap'
import { ConsoleConfig } from '@intake/config'
import { loadConfig } from '@intake/runtime/config'
import { logTo } from '@intake/test-kit/log-to'
import { startAdmin } from '../../../packages/http-edge/test/admin/start-admin.ts'
import { createPage } from '../../src/admin/page.ts'
import { icon } from '../../src/page/assets.ts'
import { basic, calmState, emptyReader, statusOf } from '../page/fixture.ts'

const password = 'a password of the test'

t.test('TRUST_PROXY=1: ten wrong passwords of an address lock out no other one', async (t) => {
  const config = loadConfig(ConsoleConfig, {
    REDIS_URL: 'redis://x',
    CLICKHOUSE_URL: 'http://x',
    PAGE_PASSWORD: password,
    TRUST_PROXY: '1',
  })
  const port = await startAdmin(t, {
    page: createPage({
      config,
      reader: emptyReader,
      store: undefined,
      state: calmState,
      log: logTo(() => {}),
      onFailed: () => {},
    }),
  })
  /** What a proxy passes on for this address: it appends the address to what the client sent. */
  const statusFor = (address: string, given: string) => {
    const forwarded = { 'x-forwarded-for': `203.0.113.9, ${address}` }
    return statusOf(port, { ...basic(given), ...forwarded }, icon.path)
  }
  for (let n = 0; n < 10; n++) t.equal(await statusFor('192.0.2.1', `guess ${n}`), 401)
  t.equal(await statusFor('192.0.2.1', password), 429)
  t.equal(await statusFor('192.0.2.2', password), 200)
})
