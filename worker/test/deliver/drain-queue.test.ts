import t from 'tap'
import { ClickHouseError } from '@intake/clickhouse'
import type { ClaimedFrame } from '@intake/queue/consume'
import { createMetrics } from '@intake/runtime/process'
import { createTestClock } from '@intake/test-kit/test-clock'
import { logTo } from '@intake/test-kit/log-to'
import { compress } from '@intake/queue/frame'
import { drainQueue } from '../../src/deliver/drain-queue.ts'
import { createWorkerMetrics } from '../../src/watch/metrics.ts'
import { createRefusalRun } from '../../src/deliver/refusal-run.ts'

const limits = { framesMax: 10, compressedBytesMax: 1e6, jsonBytesMax: 1e6 }
const frameOf = (text: string, attempts = 1): ClaimedFrame => {
  const json = `${JSON.stringify({ id: text })}\n`
  return {
    rows: 1,
    jsonBytes: json.length,
    ...compress(json),
    attempts,
    receivedAtMs: undefined,
  }
}

/**
 * Drains a queue into a table. The queue hands out these batches and then ends. `insertRows` is the
 * table's insert.
 */
function build(batches: ClaimedFrame[][], insertRows: () => Promise<void>) {
  const clock = createTestClock()
  const stop = new AbortController()
  const seen: string[] = []
  const done = drainQueue({
    consumer: {
      take: () => {
        const frames = batches.shift()
        seen.push(frames === undefined ? `end at ${clock.now()}` : `take at ${clock.now()}`)
        if (frames === undefined) return Promise.resolve(undefined)
        return Promise.resolve({
          frames,
          postpone: async (frame: ClaimedFrame, ms: number) =>
            void seen.push(`postpone ${frames.indexOf(frame)} for ${ms}`),
          complete: async () => void seen.push('complete'),
          release: async () => void seen.push('release'),
        })
      },
    },
    limits,
    store: {
      store: { insertRows },
      kind: 'logs',
      events: createWorkerMetrics(createMetrics()),
      log: logTo(() => {}),
      refusalRun: createRefusalRun(),
      signal: stop.signal,
      clock,
    },
  })
  return { clock, stop, seen, done }
}

const late = () => Promise.reject(new ClickHouseError('late', { kind: 'split' }))

t.test('takes the next batch at once after one that was stored', async (t) => {
  const { clock, done, seen } = build([[frameOf('a')], [frameOf('b')]], () => Promise.resolve())
  await clock.runAll()
  await done
  t.same(seen, ['take at 0', 'complete', 'take at 0', 'complete', 'end at 0'])
})

t.test('pauses longer and longer while no frame of a batch can be stored', async (t) => {
  const batches = [1, 2, 20].map((attempts) => [frameOf('a', attempts)])
  const { clock, done, seen } = build(batches, late)
  await clock.runAll()
  await done
  t.same(seen, [
    'take at 0',
    'postpone 0 for 5000',
    'complete',
    'take at 1000',
    'postpone 0 for 10000',
    'complete',
    'take at 3000',
    'postpone 0 for 600000',
    'complete',
    'end at 7000',
  ])
})

t.test('an abort ends the pause', async (t) => {
  const { clock, stop, done, seen } = build([[frameOf('a')]], late)
  await clock.advance(500)
  stop.abort()
  await done
  t.equal(seen.at(-1), 'end at 500')
})

t.test('an insert that is given up returns its frames', async (t) => {
  const unavailable = () => Promise.reject(new ClickHouseError('down', { kind: 'retry' }))
  const { clock, done, seen, stop } = build([[frameOf('a')]], unavailable)
  await clock.advance(60_000)
  t.same(seen, ['take at 0'])
  stop.abort()
  await done
  t.same(seen.slice(1), ['release', `end at ${clock.now()}`])
})

t.test('an error of the code ends the loop', async (t) => {
  const broken = { ...frameOf('a'), bytes: null as unknown as Buffer }
  const rejected = () => Promise.reject(new ClickHouseError('no', { kind: 'rejected', code: 117 }))
  const { clock, done } = build([[broken]], rejected)
  const ended = t.rejects(done, TypeError)
  await clock.runAll()
  await ended
})
