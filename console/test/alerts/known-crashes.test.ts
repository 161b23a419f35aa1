import t from 'tap'
import { sqlTime, type QueryParams } from '@intake/clickhouse'
import { createKnownCrashes } from '../../src/alerts/known-crashes.ts'

const toMs = Date.UTC(2026, 10, 29, 1)

t.test('of crashes that a client makes up, those that came last are remembered', async (t) => {
  const old = '2026-11-01 00:00:00.000'
  const made = Array.from({ length: 20_000 }, (_, n) => ({ print: String(19_999 - n), at: old }))
  const again = (print: number, at: string) => [{ print: String(print), at }]
  const reads = [made, again(0, '2026-11-29 00:30:00.000'), again(20_000, old)]
  let isForgotten = false
  const newCrashes = createKnownCrashes({
    async query<Row>() {
      const rows = reads.shift() ?? again(isForgotten ? 1 : 0, '2026-11-29 00:40:00.000')
      return rows as Row[]
    },
  })
  const newIn = () =>
    newCrashes({ bundle: 'com.flood', minutes: 60 }, { toMs, visibleUntilMs: toMs })
  for (const what of ['all', 'one that is known', 'one more', 'one that is known']) {
    t.equal(await newIn(), 0, what)
  }
  isForgotten = true
  t.equal(await newIn(), 1, 'the one that came longest ago is new')
})

t.test('a crash that waits in the queue for half an hour is new when it is visible', async (t) => {
  const minuteMs = 60_000
  const startMs = Date.UTC(2026, 10, 29)
  const arrivedMs = startMs + 5 * minuteMs
  let isVisible = false
  const newCrashes = createKnownCrashes({
    async query<Row>(_sql: string, params: QueryParams = {}) {
      const at = sqlTime(new Date(arrivedMs))
      const { from, to } = params as { from?: string; to?: string }
      const isIn = from === undefined || to === undefined || (at >= from && at < to)
      return (isVisible && isIn ? [{ print: 'one', at }] : []) as Row[]
    },
  })
  const newAt = async (minute: number, visibleUntilMs: number) => {
    const end = { toMs: startMs + minute * minuteMs, visibleUntilMs }
    return newCrashes({ bundle: 'com.example.app', minutes: 60 }, end)
  }
  for (let minute = 1; minute <= 35; minute++) t.equal(await newAt(minute, startMs), 0)
  isVisible = true
  t.equal(await newAt(36, startMs + 36 * minuteMs), 1)
})
