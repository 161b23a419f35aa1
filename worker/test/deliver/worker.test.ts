import t from 'tap'
import { createFrame } from '@intake/queue'
import type { JobSource } from '@intake/queue/consume'
import { createMetrics } from '@intake/runtime/process'
import { createTestClock } from '@intake/test-kit/test-clock'
import { logTo } from '@intake/test-kit/log-to'
import { compress } from '@intake/queue/frame'
import { startWorker } from '../../src/deliver/worker.ts'
import { createWorkerMetrics } from '../../src/watch/metrics.ts'

t.test('closing waits for every loop, even if one ends with an error', async (t) => {
  const clock = createTestClock()
  const seen: string[] = []
  const json = '{"id":"a"}\n'
  const data = createFrame({ rows: 1, jsonBytes: json.length, ...compress(json) })
  /** Creates a queue with one job. */
  const queueOf = (kind: string, complete: () => Promise<undefined>): JobSource => {
    const jobs = [{ id: kind, data, attempts: 1 }]
    return {
      peek: async () => ({ count: jobs.length, oldest: jobs[0]?.id }),
      hasPostponed: async () => false,
      claim: async () => jobs.shift(),
      complete,
      postpone: async () => {},
      release: async () => {},
      renew: async () => [],
      close: async () => void seen.push(`${kind} closed`),
    }
  }
  let completeLogs = () => {}
  const logs = queueOf('logs', () => new Promise((done) => (completeLogs = () => done(undefined))))
  const ends = new Map<string, () => void>()
  const events = createWorkerMetrics(createMetrics(), { clock })
  const worker = startWorker({
    sources: {
      logs,
      feedback: queueOf('feedback', async () => undefined),
      outcomes: queueOf('outcomes', async () => undefined),
    },
    store: { insertRows: ({ table }) => new Promise((stored) => ends.set(table, stored)) },
    events: {
      ...events,
      inserted(kind) {
        if (kind === 'feedback') throw new Error('unexpected')
      },
    },
    note: () => {},
    log: logTo((line) => void seen.push(JSON.parse(line).msg as string), 'warn'),
    onError: (error) => t.fail(error),
    clock,
  })
  await clock.advance(5_000)
  t.same([...ends.keys()].toSorted(), ['feedback', 'logs', 'outcomes'])
  const closed = worker.close().then(() => seen.push('closed'))
  for (const end of ends.values()) end()
  await clock.advance(1_000)
  t.same(seen.toSorted(), ['feedback closed', 'outcomes closed'])
  completeLogs()
  await closed
  t.same(seen.slice(2), [
    'logs closed',
    'frames were not released; they are redelivered when their locks expire',
    'closed',
  ])
})
