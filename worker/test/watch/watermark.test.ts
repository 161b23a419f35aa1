import { gunzipSync } from 'node:zlib'
import t from 'tap'
import type { Backlogs } from '@intake/queue'
import { emptyBacklog } from '@intake/test-kit/empty-backlog'
import { createTestClock } from '@intake/test-kit/test-clock'
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

/** Reads the queues once and returns the watermark that was stored after that. */
async function stored(
  backlogs: Backlogs | undefined,
  { wallMs = noon, ms = 1_000 }: { wallMs?: number; ms?: number } = {},
) {
  const clock = createTestClock()
  const rows: Record<string, string> = {}
  const tables = new Set<string>()
  const watermark = startWatermark({
    readBacklogs: () => Promise.resolve(backlogs),
    store: {
      async insertRows({ table, members, rows: count }) {
        tables.add(table)
        const lines = gunzipSync(Buffer.concat(members)).toString().trimEnd().split('\n')
        t.equal(lines.length, count)
        for (const line of lines) {
          const { kind, visible_until: until } = JSON.parse(line) as Record<string, string>
          rows[kind!] = until!
        }
      },
    },
    clockSkewMaxMs: 5_000,
    onError: (error) => t.fail(error as Error),
    clock,
    wallMs: () => wallMs,
  })
  await clock.advance(ms)
  watermark.close()
  t.ok([...tables].every((table) => table === 'watermark'))
  return rows
}

t.test(
  'with empty queues it is as far behind as a record may be that is not enqueued',
  async (t) => {
    t.same(await stored(backlogsAt()), {
      logs: '2026-11-23T11:59:45.000Z',
      feedback: '2026-11-23T11:59:25.000Z',
    })
  },
)

t.test('the oldest record in a queue holds it back', async (t) => {
  const oldestMs = { logs: noon - 3_600_000, feedback: noon - 1_000 }
  t.same(await stored(backlogsAt(oldestMs)), {
    logs: '2026-11-23T10:59:55.000Z',
    feedback: '2026-11-23T11:59:25.000Z',
  })
})

t.test(
  'nothing is stored for a queue that is too long, or when another worker reads',
  async (t) => {
    const backlogs = backlogsAt()
    backlogs.queues.logs.isOldestExact = false
    t.same(Object.keys(await stored(backlogs)), ['feedback'])
    t.same(await stored(undefined), {})
  },
)

t.test('a clock that has jumped ahead, here or in Redis, does not advance it', async (t) => {
  const hourMs = 3_600_000
  const usual = await stored(backlogsAt())
  t.same(await stored(backlogsAt({}, noon + hourMs)), usual)
  t.same(await stored(backlogsAt(), { wallMs: noon + hourMs }), usual)
})

t.test('an error is reported, and the next attempt may succeed', async (t) => {
  const clock = createTestClock()
  const errors: unknown[] = []
  let inserts = 0
  const watermark = startWatermark({
    readBacklogs: () => Promise.resolve(backlogsAt()),
    store: {
      insertRows: () => (++inserts === 1 ? Promise.reject(new Error('down')) : Promise.resolve()),
    },
    clockSkewMaxMs: 5_000,
    onError: (error) => errors.push(error),
    clock,
    wallMs: () => noon,
  })
  await clock.advance(59_000)
  watermark.close()
  t.match(errors, [{ message: 'down' }])
  t.equal(inserts, 1 + 12, 'again after a moment, then every five seconds')
})

t.test('while a queue is too long to look at, the watermark is late', async (t) => {
  const clock = createTestClock()
  const backlogs = backlogsAt()
  const watermark = startWatermark({
    readBacklogs: () => Promise.resolve(backlogs),
    store: { insertRows: () => Promise.resolve() },
    clockSkewMaxMs: 5_000,
    onError: (error) => t.fail(error as Error),
    clock,
    wallMs: () => noon,
  })
  await clock.advance(20_000)
  t.ok(watermark.lateMs() <= 5_000)
  backlogs.queues.logs = { ...emptyBacklog, waiting: 30_000, isOldestExact: false }
  await clock.advance(20_000)
  t.ok(watermark.lateMs() >= 20_000)
  watermark.close()
})

t.test('queues that do not respond are reported', async (t) => {
  const clock = createTestClock()
  const errors: unknown[] = []
  const watermark = startWatermark({
    readBacklogs: () => new Promise(() => {}),
    store: { insertRows: () => Promise.reject(new Error('not called')) },
    clockSkewMaxMs: 5_000,
    onError: (error) => errors.push(error),
    clock,
    wallMs: () => noon,
  })
  await clock.advance(10_000)
  watermark.close()
  t.match(errors, [{ name: 'TimeoutError' }])
})
