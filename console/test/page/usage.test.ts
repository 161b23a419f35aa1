import t from 'tap'
import { dayMs } from '@intake/contract'
import { atTime, logRow } from '../../../packages/schema/test/fixture.ts'
import { readHowOften } from '../../src/page/how-often.ts'
import { readSessions, readWeeks } from '../../src/page/read-usage.ts'
import { weekCard } from '../../src/page/views/usage.ts'
import { calmState, startRowStore, textOf, view } from './fixture.ts'

const { owner, insert, startReaderPage } = await startRowStore(t)
const application = 'com.example.usage'
const minuteMs = 60_000
/** In the first hours of a Monday, the end of Sunday: all sessions must be in one week. */
const nowMs = (() => {
  const now = Date.now()
  const sinceMondayMs = (now - Date.UTC(1970, 0, 5)) % (7 * dayMs)
  return sinceMondayMs > 200 * minuteMs ? now : now - sinceMondayMs - 1
})()
const devices = ['1', '2', '3'].map((n) => `df5d5c64-dba0-4337-96e2-72a3049d0d0${n}`)

const event = (device: number, agoMs: number, name: string, version: string) =>
  logRow({
    ...atTime(nowMs - agoMs),
    bundle_identifier: application,
    device_uuid: devices[device],
    event: name,
    device: { version_name: version },
  })

await insert('logs', [
  // One device: a session that crashes, and after a pause one that does not.
  event(0, 200 * minuteMs, 'app_open', '2.0'),
  event(0, 190 * minuteMs, 'crash', '2.0'),
  event(0, 100 * minuteMs, 'app_open', '2.0'),
  event(1, 90 * minuteMs, 'app_open', '1.0'),
  event(1, 80 * minuteMs, 'error_resolved', '1.0'),
  // Two devices that were new two weeks ago; one of them came back.
  event(1, 14 * dayMs, 'app_open', '1.0'),
  event(2, 14 * dayMs, 'app_open', '1.0'),
])

t.test('sessions end with a pause, and have the version of their first event', async (t) => {
  const window = { from: nowMs - dayMs, to: nowMs }
  t.same(await readSessions(owner, window, application), [
    { version: '2.0', sessions: 2, crashFree: 1 },
    { version: '1.0', sessions: 1, crashFree: 1 },
  ])
})

t.test('a week has its new devices, and how many of them came back', async (t) => {
  const weeks = await readWeeks(owner, application, nowMs)
  t.match(weeks, [{ devices: [2, 0, 1, 0, 0] }, { devices: [1, 0, 0, 0, 0] }])
  t.equal(weeks.length, 2)
})

t.test('a week that is not over has no share', (t) => {
  const weeks = [{ week: '2026-11-09', devices: [4, 2, 1, 0, 0] }]
  const shown = (now: string) => textOf(String(weekCard(weeks, Date.parse(now))), ' ')
  t.match(shown('2026-11-29T23:59:59Z'), /2026-11-09 4 50 % *$/)
  t.match(shown('2026-11-30T00:00:00Z'), /2026-11-09 4 50 % 25 % *$/)
  t.end()
})

t.test('an event says how often it happened, and in which versions', async (t) => {
  const columns = { ...event(0, 0, 'app_open', '2.0'), params: {} }
  const found = await readHowOften(owner, { kind: 'logs', columns })
  t.match(found, { events: 5, devices: 3 })
  t.match(found?.versions, [
    { name: '1.0', count: 3 },
    { name: '2.0', count: 2 },
  ])
})

t.test('the view of the application shows both, and what counts as an error', async (t) => {
  const { url } = await startReaderPage(t, { state: calmState })
  const { text } = await view(url, `/applications/${application}?period=24h`)
  const plain = textOf(text, ' ')
  t.match(plain, /Crash-free sessions 66\.6 % last 24 h; 1 crash or error/)
  t.match(plain, /2\.0 1 2 50\.0 %/)
  t.match(plain, /\d{4}-\d\d-\d\d 2 0 %/)
  t.match(plain, /Crashes and errors crash 1 100 % Names that end in crash, crashed/)
})
