import t from 'tap'
import { errorCatalogue, nonErrorOutcomes } from '@intake/contract'
import { countReader } from '../../src/page/count-reader.ts'
import { readOverview } from '../../src/page/overview.ts'
import { stepsOf } from '../../src/page/period.ts'
import { isRefusal, readArrivals, readKeyOutcomes } from '../../src/page/read-outcomes.ts'
import { refusedTile } from '../../src/page/views/outcomes.ts'
import { startRowStore, view } from './fixture.ts'

const { owner, startReaderPage } = await startRowStore(t)
const count = (codes: readonly string[]) =>
  owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
    SELECT toStartOfMinute(now('UTC')) - INTERVAL 5 MINUTE, 'key_1', 'logs', code, generateUUIDv4(), 1000
    FROM (SELECT arrayJoin(['${codes.join("', '")}']) AS code)`)

t.test('an installation that leaves out all that arrives is not new', async (t) => {
  await count(['dropped'])
  const { url } = await startReaderPage(t)
  const { text } = await view(url, '/')
  t.notMatch(text, 'Nothing has arrived yet')
  t.match(text, 'last 24 h; 1,000 records left out')
})

t.test('records that rules or an erasure leave out are not counted as refused', async (t) => {
  await count([...nonErrorOutcomes.filter((code) => code !== 'dropped'), 'invalid_request'])
  const steps = stepsOf('1h', Date.now())
  const arrivals = await readArrivals(owner, steps)
  const total = (name: 'events' | 'feedback' | 'refused' | 'leftOut') =>
    arrivals.reduce((sum, one) => sum + one[name], 0)
  t.same([total('events'), total('feedback'), total('refused')], [1_000, 0, 1_000])
  t.equal(total('leftOut'), 3_000)
  const refused = await readKeyOutcomes(owner, steps, { onlyRefused: true })
  t.match(refused, [{ code: 'invalid_request' }])
  t.equal(refused.length, 1)
  t.equal((await readKeyOutcomes(owner, steps, { onlyRefused: false })).length, 6)
})

t.test('the view of a key shows only refusals as refused', async (t) => {
  const { url } = await startReaderPage(t)
  const { text } = await view(url, '/status')
  const row = /key_1[^]*?(?=<tr>|<\/tbody>)/.exec(text)?.[0].replaceAll(/\s+/g, ' ') ?? ''
  t.match(
    row,
    /data-label="Mostly">A field is missing or invalid <small><code><bdi>invalid_request/,
  )
  t.match(row, /data-label="Refused">1,000</)
  for (const code of ['dropped', 'sampled', 'suppressed', 'overflow']) t.notMatch(row, code)
  for (const path of ['/', '/live'])
    t.notMatch((await view(url, path)).text, /dropped|sampled/, path)
})

t.test('what was refused without a key says why, and who sent it', async (t) => {
  for (const code of ['unauthorized', 'preflight_refused', 'not_found']) {
    await owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
      VALUES (toStartOfMinute(now('UTC')) - INTERVAL 5 MINUTE, '', 'logs', '${code}', generateUUIDv4(), 5)`)
  }
  const { url } = await startReaderPage(t)
  for (const path of ['/', '/live', '/status']) {
    const text = (await view(url, path)).text.replaceAll(/\s+/g, ' ')
    const preflights = /preflights of web pages from other origins: CORS_ORIGINS is not set/g
    t.equal(text.match(preflights)?.length, 1, path)
    t.equal(text.match(/API key missing or wrong/g)?.length, 1, path)
    t.match(text, /No such path/, path)
  }
})

t.test('an outcome is a refusal if its code is that of an error', (t) => {
  for (const code of nonErrorOutcomes) t.notOk(isRefusal(code), code)
  for (const code of Object.keys(errorCatalogue)) t.ok(isRefusal(code), code)
  t.end()
})

t.test('refusals are compared without the step that is not over', async (t) => {
  const steps = stepsOf('24h', Date.now() - 9 * 24 * 3_600_000)
  await owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
    SELECT toDateTime(${2 * steps.from - steps.to} / 1000 + 3600 * number, 'UTC'), 'key_1', 'logs', 'invalid_request', generateUUIDv4(), 1
    FROM numbers(47)`)
  const names = Promise.resolve(new Map<string, string>())
  const data = await readOverview(countReader(owner, { isSmall: true }), steps, names)
  t.match(String(refusedTile(data, '24h')), /<b>23<[^]*23 before">±0 %</)
})
