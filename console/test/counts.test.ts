import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import { startCounts } from '../src/counts.ts'

const hourMs = 3_600_000
const time = '2026-11-23 12:00:00.000'

/**
 * Lets the periodic counts of a console run for `hours` hours of test time. Each count takes
 * `tookMs` until it knows what to count; those named in `fails` then fail. Each of `alone`
 * applications with many events takes another `tookMs`. Returns the times at which each count
 * began, and the number of errors.
 */
async function countFor(options: {
  hours: number
  tookMs: number
  fails?: readonly string[]
  alone?: number
}) {
  const { hours, tookMs, fails = [], alone = 0 } = options
  const clock = createTestClock()
  const began: Record<string, number[]> = { hours: [], catalogue: [] }
  let errors = 0
  const takeTime = () => new Promise<void>((resolve) => clock.setTimeout(resolve, tookMs))
  const large = Array.from({ length: alone }, (_, n) => ({
    bundle_identifier: `com.example.large${n}`,
    period: '2026-11-23 11:00:00',
    is_marked: 0,
    of_application: 1_000_000,
  }))
  const counts = startCounts({
    reader: {
      async query<Row>(sql: string, params: Record<string, unknown> = {}) {
        if (sql.includes('intake.recounts')) return large as Row[]
        if (!sql.includes('AS until')) return [] as Row[]
        const name = String(params['name'])
        began[name]?.push(clock.now())
        await takeTime()
        if (fails.includes(name)) throw new Error('too much memory')
        return [{ until: time, now: time, lastUntil: time, lastNow: time }] as Row[]
      },
      lines: async () => {
        await takeTime()
        return []
      },
    },
    store: { insertRows: async () => {} },
    onError: () => void errors++,
    clock,
  })
  await clock.advance(hours * hourMs)
  counts.close()
  return { began, errors }
}

t.test('a count that fails takes at most 1/20 of the time', async (t) => {
  const tookMs = 100_000
  const { began, errors } = await countFor({ hours: 10, tookMs, fails: ['hours', 'catalogue'] })
  for (const [name, times] of Object.entries(began)) {
    t.ok(times.length > 10, `${name}: ${times.length} runs`)
    t.ok(times.length * tookMs < (10 * hourMs) / 20 + tookMs, `${name}: ${times.length} runs`)
  }
  t.equal(errors, (began['hours']?.length ?? 0) + (began['catalogue']?.length ?? 0))
})

t.test('what is counted alone delays the next run less', async (t) => {
  const tookMs = 50_000
  const { began } = await countFor({ hours: 3, tookMs, alone: 5 })
  const [first = 0, second = 0] = began['hours'] ?? []
  // Of five applications two begin within the minute that is for them.
  const pauseMs = 20 * tookMs + 3 * 2 * tookMs
  const ranMs = 3 * tookMs
  t.ok(second - first >= ranMs + pauseMs, `${second - first} ms`)
  t.ok(second - first <= ranMs + pauseMs + 60_000, `${second - first} ms`)
})

t.test('the catalogue is counted although the hours cannot be', async (t) => {
  const { began } = await countFor({ hours: 1, tookMs: 10, fails: ['hours'] })
  t.ok((began['catalogue']?.length ?? 0) > 0)
  t.ok((began['hours']?.length ?? 0) > 50, 'and a quick failure is retried every minute')
})

t.test('no count begins after the end', async (t) => {
  const clock = createTestClock()
  let queries = 0
  const counts = startCounts({
    reader: { query: async () => (queries++, []), lines: async () => [] },
    store: { insertRows: async () => {} },
    onError: () => {},
    clock,
  })
  counts.close()
  await clock.advance(1)
  const atTheEnd = queries
  await clock.advance(10 * hourMs)
  t.equal(queries, atTheEnd)
  t.same(clock.pending(), [])
})

t.test('the counts are late as long as they are old, with and without an error', async (t) => {
  const clock = createTestClock()
  const late: [number, string][] = []
  const counts = startCounts({
    reader: { query: () => new Promise(() => {}), lines: async () => [] },
    store: { insertRows: async () => {} },
    onError: () => {},
    onLate: (detail) => late.push([clock.now(), detail]),
    clock,
  })
  const began = clock.now()
  await clock.advance(hourMs)
  counts.close()
  t.ok((late[0]?.[0] ?? 0) - began >= 15 * 60_000)
  t.ok(late.length > 60, `${late.length} times`)
  t.match(late[0]?.[1], 'the hours have not been counted for 15 minutes')
})
