import t from 'tap'
import { batch, send as sendBatch } from '../batches.ts'
import { payload, send } from '../forms.ts'
import { logBody, sendLog, startGateway } from '../support.ts'

const env = { CLIENT_COUNTRY_HEADER: 'CF-IPCountry' }

t.test('the country in the configured header is in every row', async (t) => {
  const gateway = await startGateway(t, { env })
  await sendLog(gateway, logBody(), { 'cf-ipcountry': 'de' })
  const logs = batch([{ event: 'a' }, { event: 'b' }])
  await sendBatch(gateway, logs, { 'cf-ipcountry': 'FR' })
  await send(gateway, [payload({})], { 'cf-ipcountry': 'JP' })
  const countries = (kind: 'logs' | 'feedback') => gateway.rows(kind).map(({ country }) => country)
  t.same(countries('logs'), ['DE', 'FR', 'FR'])
  t.same(countries('feedback'), ['JP'])
})

t.test('a value that is not a known country is left out, and the record is kept', async (t) => {
  const gateway = await startGateway(t, { env })
  const values = ['', 'D', 'DEU', 'XX', 'xx', 'T1', 'D\u00c9', 'DE, FR', '"}']
  for (const value of values) {
    t.equal((await sendLog(gateway, logBody(), { 'cf-ipcountry': value })).statusCode, 201, value)
  }
  const rows = gateway.rows('logs')
  t.equal(rows.length, values.length)
  const found = rows.filter((row) => 'country' in row)
  t.same(found, [])
})

t.test('without the setting no header is read', async (t) => {
  const gateway = await startGateway(t)
  await sendLog(gateway, logBody(), { 'cf-ipcountry': 'DE', country: 'DE', undefined: 'DE' })
  t.notOk('country' in gateway.rows('logs')[0]!)
})
