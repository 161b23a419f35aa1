import t from 'tap'
import { batch } from '../batches.ts'
import { payload, send } from '../forms.ts'
import { headers, logBody, startGateway, type TestGateway } from '../support.ts'

const env = { CLIENT_COUNTRY_HEADER: 'CF-IPCountry' }

const sendLog = ({ app }: TestGateway, country: Record<string, string>) =>
  app.inject({
    method: 'POST',
    url: '/api/log',
    headers: { ...headers, ...country },
    payload: logBody(),
  })

t.test('the country in the configured header is in every row', async (t) => {
  const gateway = await startGateway(t, { env })
  await sendLog(gateway, { 'cf-ipcountry': 'de' })
  const logs = batch([{ event: 'a' }, { event: 'b' }])
  await gateway.app.inject({
    method: 'POST',
    url: '/api/log/batch',
    headers: { ...headers, 'cf-ipcountry': 'FR' },
    payload: logs,
  })
  await send(gateway, [payload({})], { 'cf-ipcountry': 'JP' })
  const countries = (kind: 'logs' | 'feedback') => gateway.rows(kind).map(({ country }) => country)
  t.same(countries('logs'), ['DE', 'FR', 'FR'])
  t.same(countries('feedback'), ['JP'])
})

t.test('a value that is not a known country is left out, and the record is kept', async (t) => {
  const gateway = await startGateway(t, { env })
  const values = ['', 'D', 'DEU', 'XX', 'xx', 'T1', 'D\u00c9', 'DE, FR', '"}']
  for (const value of values) {
    t.equal((await sendLog(gateway, { 'cf-ipcountry': value })).statusCode, 201, value)
  }
  const rows = gateway.rows('logs')
  t.equal(rows.length, values.length)
  t.same(
    rows.filter((row) => 'country' in row),
    [],
  )
})

t.test('without the setting no header is read', async (t) => {
  const gateway = await startGateway(t)
  await sendLog(gateway, { 'cf-ipcountry': 'DE', country: 'DE', undefined: 'DE' })
  t.notOk('country' in gateway.rows('logs')[0]!)
})
