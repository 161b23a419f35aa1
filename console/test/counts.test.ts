import { EventEmitter, once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import { startCounts } from '../src/counts.ts'

const hourMs = 3_600_000
const time = '2026-11-23 12:00:00.000'

/**
 * Lets the periodic counts of a console run for `hours` hours of test time. Each count takes `tookMs`;
 * those named in `fails` fail. Returns the times at which each count began, and the number of
 * errors.
 */
async function countFor(options: { hours: number; tookMs: number; fails: readonly string[] }) {
  const { hours, tookMs, fails } = options
  const clock = createTestClock()
  const began: Record<string, number[]> = { hours: [], catalogue: [] }
  let errors = 0
  const counts = startCounts({
    reader: {
      async query<Row>(sql: string, params: Record<string, unknown> = {}) {
        if (!sql.includes('AS until')) return [] as Row[]
        const name = String(params['name'])
        began[name]?.push(clock.now())
        await new Promise<void>((resolve) => clock.setTimeout(resolve, tookMs))
        if (fails.includes(name)) throw new Error('too much memory')
        return [{ until: time, now: time, lastUntil: time, lastNow: time }] as Row[]
      },
      lines: async () => [],
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
  const clock = createTestClock()
  const tookMs = 50_000
  let passedMs = 0
  const found = Array.from({ length: 5 }, (_, n) => ({
    bundle_identifier: `com.example.large${n}`,
    period: '2026-11-23 11:00:00',
    is_marked: 0,
    of_application: 1_000_000,
  }))
  const began: number[] = []
  const ended = new EventEmitter()
  const counts = startCounts({
    reader: {
      async query<Row>(sql: string, params: Record<string, unknown> = {}) {
        if (sql.includes('intake.recounts')) return found as Row[]
        if (!sql.includes('AS until')) return [] as Row[]
        if (params['name'] === 'catalogue') throw new Error('is not counted here')
        began.push(clock.now() + passedMs)
        passedMs += tookMs
        return [{ until: time, now: time, lastUntil: time, lastNow: time }] as Row[]
      },
      async lines() {
        passedMs += tookMs
        return []
      },
    },
    store: { insertRows: async ({ table }) => void ended.emit(table) },
    onError: () => {},
    clock: { ...clock, now: () => clock.now() + passedMs },
  })
  const end = once(ended, 'counted')
  await clock.advance(0)
  await end
  const [first = 0] = began
  while (began.length < 2) await clock.advance(10_000)
  counts.close()
  // Of five applications two begin within the minute that is for them.
  const expectedMs = 3 * tookMs + 20 * tookMs + 3 * 2 * tookMs
  t.ok(Math.abs(began[1]! - first - expectedMs) <= 60_000, `${began[1]! - first} ms`)
})

t.test('the catalogue is counted although the hours cannot be', async (t) => {
  const { began } = await countFor({ hours: 1, tookMs: 10, fails: ['hours'] })
  t.ok((began['catalogue']?.length ?? 0) > 0)
  t.ok((began['hours']?.length ?? 0) > 50, 'and a quick failure is retried every minute')
})

t.test('a catalogue that takes a second is counted again within three minutes', async (t) => {
  const clock = createTestClock()
  const began: number[] = []
  let countedAt: number | undefined
  const run = { isStoring: false }
  const counts = startCounts({
    reader: {
      async query<Row>(sql: string, { name }: Record<string, unknown> = {}) {
        if (name === 'hours') throw new Error('is not counted here')
        if (sql.includes('AS age'))
          return (countedAt === undefined ? [] : [{ age: clock.now() - countedAt }]) as Row[]
        if (!sql.includes('AS until')) return [] as Row[]
        began.push(clock.now())
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 1_000))
        run.isStoring = true
        return [{ until: time, now: time, lastUntil: time, lastNow: time }] as Row[]
      },
      lines: async () => [],
    },
    store: {
      async insertRows({ table }) {
        if (table === 'counted') [countedAt, run.isStoring] = [clock.now(), false]
      },
    },
    onError: () => {},
    clock,
  })
  for (let seconds = 0; seconds < 600 && began.length < 2; seconds++) {
    await clock.advance(1_000)
    // Rows are compressed in another thread, for which the clock of the test must wait.
    do await setTimeout(1)
    while (run.isStoring)
  }
  counts.close()
  const [first = 0, second = Infinity] = began
  t.ok(second - first <= 3 * 60_000, `${second - first} ms`)
})

t.test('a count of a time when the clock was ahead is no reason to wait', async (t) => {
  const ended = new EventEmitter()
  const end = once(ended, 'counted')
  const counts = startCounts({
    reader: {
      async query<Row>(sql: string) {
        if (sql.includes('AS age')) return [{ age: -hourMs }] as Row[]
        if (!sql.includes('AS until')) return [] as Row[]
        return [{ until: time, now: time, lastUntil: time, lastNow: time }] as Row[]
      },
      lines: async () => [],
    },
    store: { insertRows: async ({ table }) => void ended.emit(table) },
    onError: (error) => t.error(error),
  })
  t.teardown(() => counts.close())
  await end
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
