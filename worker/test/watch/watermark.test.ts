import { gunzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import type { Backlogs } from '@intake/queue'
import { emptyBacklog } from '@intake/test-kit/empty-backlog'
import { createTestClock } from '@intake/test-kit/test-clock'
import type { RowStore } from '../../src/deliver/ports.ts'
import { startWatermark } from '../../src/watch/watermark.ts'

const noon = Date.UTC(2026, 10, 23, 12)

/** Returns the state of the queues at noon. A queue without an oldest record is empty. */
function backlogsAt(oldestMs: { logs?: number; feedback?: number } = {}, nowMs = noon): Backlogs {
  const { logs, feedback } = oldestMs
  return {
    nowMs,
    shards: [],
    queues: {
      logs: { ...emptyBacklog, oldestMs: logs },
      feedback: { ...emptyBacklog, oldestMs: feedback },
      outcomes: emptyBacklog,
    },
  }
}

/** Starts a watermark that reads `read` and passes what it stores to `insert`. */
function watch(
  t: Test,
  read: () => Promise<Backlogs | undefined>,
  options: { insert?: RowStore['insertRows']; wallMs?: number } = {},
) {
  const clock = createTestClock()
  const errors: unknown[] = []
  const watermark = startWatermark({
    readBacklogs: read,
    store: { insertRows: options.insert ?? (() => Promise.resolve()) },
    clockSkewMaxMs: 5_000,
    onError: (error) => errors.push(error),
    clock,
    wallMs: () => options.wallMs ?? noon,
  })
  t.teardown(() => watermark.close())
  return { clock, errors, watermark }
}

/** Reads the queues once and returns the watermark that was stored after that. */
async function stored(t: Test, backlogs: Backlogs | undefined, wallMs = noon) {
  const rows: Record<string, string> = {}
  const insert: RowStore['insertRows'] = async ({ table, members, rows: count }) => {
    t.equal(table, 'watermark')
    const lines = gunzipSync(Buffer.concat(members)).toString().trimEnd().split('\n')
    t.equal(lines.length, count)
    for (const line of lines) {
      const { kind, visible_until: until } = JSON.parse(line) as Record<string, string>
      rows[kind!] = until!
    }
  }
  const { clock, errors } = watch(t, async () => backlogs, { insert, wallMs })
  await clock.advance(1_000)
  t.same(errors, [])
  return rows
}

t.test('with empty queues it lags as a record that is not enqueued may', async (t) => {
  t.same(await stored(t, backlogsAt()), {
    logs: '2026-11-23T11:59:45.000Z',
    feedback: '2026-11-23T11:59:25.000Z',
  })
})

t.test('the oldest record in a queue holds it back', async (t) => {
  const oldestMs = { logs: noon - 3_600_000, feedback: noon - 1_000 }
  t.same(await stored(t, backlogsAt(oldestMs)), {
    logs: '2026-11-23T10:59:55.000Z',
    feedback: '2026-11-23T11:59:25.000Z',
  })
})

t.test('nothing is stored for a queue that is too long, or read by another', async (t) => {
  const backlogs = backlogsAt()
  backlogs.queues.logs.isOldestExact = false
  t.same(Object.keys(await stored(t, backlogs)), ['feedback'])
  t.same(await stored(t, undefined), {})
})

t.test('a clock that has jumped ahead, here or in Redis, does not advance it', async (t) => {
  const hourMs = 3_600_000
  const usual = await stored(t, backlogsAt())
  t.same(await stored(t, backlogsAt({}, noon + hourMs)), usual)
  t.same(await stored(t, backlogsAt(), noon + hourMs), usual)
})

t.test('an error is reported, and the next attempt may succeed', async (t) => {
  let inserts = 0
  const insert = () => (++inserts === 1 ? Promise.reject(new Error('down')) : Promise.resolve())
  const { clock, errors } = watch(t, async () => backlogsAt(), { insert })
  await clock.advance(59_000)
  t.match(errors, [{ message: 'down' }])
  t.equal(inserts, 1 + 12, 'again after a moment, then every five seconds')
})

t.test('while a queue is too long to look at, the watermark is late', async (t) => {
  const backlogs = backlogsAt()
  const { clock, errors, watermark } = watch(t, async () => backlogs)
  await clock.advance(20_000)
  t.ok(watermark.lateMs() <= 5_000)
  backlogs.queues.logs = { ...emptyBacklog, waiting: 30_000, isOldestExact: false }
  await clock.advance(20_000)
  t.ok(watermark.lateMs() >= 20_000)
  t.same(errors, [])
})

t.test('queues that do not respond are reported', async (t) => {
  const { clock, errors } = watch(t, () => new Promise(() => {}))
  await clock.advance(10_000)
  t.match(errors, [{ name: 'TimeoutError' }])
})
