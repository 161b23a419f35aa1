import t from 'tap'
import { createMetrics } from '@intake/runtime/process'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createWorkerMetrics } from '../../src/watch/metrics.ts'

t.test('a failure lasts until the batch has left, a brief one for fifteen seconds', async (t) => {
  const clock = createTestClock()
  const metrics = createWorkerMetrics(createMetrics(), { clock })
  const failure = () => metrics.activity('logs').failure?.kind

  metrics.insertBegan('logs')
  metrics.failed('logs', 'retry', 'no connection')
  t.equal(failure(), 'retry')
  metrics.inserted('logs', 1)
  t.equal(failure(), undefined)

  metrics.failed('logs', 'split', 'too much memory')
  metrics.inserted('logs', 1)
  // A dead letter is written without the end of an insert.
  metrics.insertBegan('logs')
  metrics.batchEnded('logs')
  t.equal(metrics.activity('logs').insertMs, undefined)
  await clock.advance(14_000)
  t.equal(failure(), 'split')
  await clock.advance(2_000)
  t.equal(failure(), undefined)
})

t.test('a loop that claims only unreadable frames does not wait', async (t) => {
  const clock = createTestClock()
  const metrics = createWorkerMetrics(createMetrics(), { clock })
  const waitingMs = () => metrics.activity('logs').waitingMs
  metrics.waitsForFrames('logs')
  await clock.advance(50_000)
  metrics.unreadable('logs')
  await clock.advance(20_000)
  t.equal(waitingMs(), 20_000)
  metrics.taken('logs', [])
  metrics.unreadable('logs')
  metrics.queueFailed('logs')
  t.equal(waitingMs(), undefined, 'nor while it has others')
})
