import t from 'tap'
import { createShardedSource, type JobSource } from '@intake/queue/consume'
import { ReplyError } from '@intake/redis'
import { createMetrics } from '@intake/runtime/process'
import { createTestClock } from '@intake/test-kit/test-clock'
import { logTo } from '@intake/test-kit/log-to'
import { createWorkerMetrics } from '../../src/watch/metrics.ts'
import { startWorker } from '../../src/deliver/worker.ts'

t.test('a loop whose claims Redis refuses is not taken for a stuck one', async (t) => {
  const clock = createTestClock()
  const metrics = createWorkerMetrics(createMetrics(), { clock })
  let refusals = 0
  const source = {
    peek: async () => ({ count: 1, oldest: 'a' }),
    claim: () => Promise.reject(new ReplyError('OOM command not allowed')),
    close: async () => {},
  } as Partial<JobSource> as JobSource
  const worker = startWorker({
    sources: {
      logs: createShardedSource({
        open: () => source,
        list: async () => [0],
        onError: () => {},
        clock,
      }),
      feedback: source,
      outcomes: source,
    },
    store: { insertRows: async () => {} },
    events: metrics,
    note: () => {},
    log: logTo(() => {}),
    onError: () => refusals++,
    clock,
  })
  await clock.advance(90_000)
  t.ok(refusals > 10, `${refusals} refusals`)
  for (const kind of ['logs', 'feedback'] as const) {
    const { waitingMs = Infinity } = metrics.activity(kind)
    t.ok(waitingMs < 10_000, `it waits for ${waitingMs} ms`)
  }
  const closed = worker.close()
  await clock.runAll()
  await closed
})
