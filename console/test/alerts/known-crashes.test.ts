import t from 'tap'
import { sqlTime, type QueryParams } from '@intake/clickhouse'
import { createKnownCrashes } from '../../src/alerts/known-crashes.ts'

t.test('crashes that an application makes up are not remembered, but counted', async (t) => {
  let remembered = 0
  const newCrashes = createKnownCrashes({
    async query<Row>(sql: string) {
      if (sql.includes('count()')) return [{ crashes: 3, latest: 'one' }] as Row[]
      if (sql.includes('AS example')) return [{ example: 'trace' }] as Row[]
      remembered++
      const at = '2026-11-29 00:00:00.000'
      return Array.from({ length: 20_001 }, (_, n) => ({ fingerprint: String(n), at })) as Row[]
    },
  })
  const toMs = Date.UTC(2026, 10, 29, 1)
  const newIn = () =>
    newCrashes({ bundle: 'com.flood', minutes: 60 }, { toMs, visibleUntilMs: toMs })
  t.same(await newIn(), { value: 3, detail: 'trace' })
  t.same(await newIn(), { value: 3, detail: 'trace' })
  t.equal(remembered, 1)
})

t.test('a crash that waits in the queue for half an hour is new when it is visible', async (t) => {
  const minuteMs = 60_000
  const startMs = Date.UTC(2026, 10, 29)
  const arrivedMs = startMs + 5 * minuteMs
  let isVisible = false
  const newCrashes = createKnownCrashes({
    async query<Row>(sql: string, params: QueryParams = {}) {
      if (sql.includes('AS example')) return [{ example: 'trace' }] as Row[]
      const at = sqlTime(new Date(arrivedMs))
      const { from, to } = params as { from?: string; to?: string }
      const isIn = from === undefined || to === undefined || (at >= from && at < to)
      return (isVisible && isIn ? [{ fingerprint: 'one', at }] : []) as Row[]
    },
  })
  const newAt = async (minute: number, visibleUntilMs: number) => {
    const end = { toMs: startMs + minute * minuteMs, visibleUntilMs }
    return (await newCrashes({ bundle: 'com.example.app', minutes: 60 }, end)).value
  }
  for (let minute = 1; minute <= 35; minute++) t.equal(await newAt(minute, startMs), 0)
  isVisible = true
  t.equal(await newAt(36, startMs + 36 * minuteMs), 1)
})
