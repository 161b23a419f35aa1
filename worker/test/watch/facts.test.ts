import t from 'tap'
import type { QueueName, QueueState } from '@intake/queue'
import { workerScaling } from '../../src/watch/facts.ts'

const scalingOf = (states: Partial<Record<QueueName, Partial<QueueState>>>) =>
  workerScaling({ backlogs: { of: (kind) => states[kind] as QueueState | undefined } })

const slow = { rows: 500, oldestAgeSeconds: 40, secondsToDrain: 90, isPaused: false }
const quick = { rows: 3, oldestAgeSeconds: 1, secondsToDrain: 1, isPaused: false }

t.test('an autoscaler gets the numbers of the queue that is furthest behind', async (t) => {
  t.same(scalingOf({ logs: quick, feedback: slow }), {
    drain_seconds: 90,
    oldest_age_seconds: 40,
    rows: 503,
    paused: 0,
  })
})

t.test('a queue that does not get shorter counts as a day', async (t) => {
  const stuck = { ...slow, oldestAgeSeconds: undefined, secondsToDrain: Infinity }
  t.match(scalingOf({ logs: stuck }), { drain_seconds: 86_400, oldest_age_seconds: 86_400 })
})

t.test('a paused queue wants no workers', async (t) => {
  const paused = { ...slow, secondsToDrain: Infinity, isPaused: true }
  t.same(scalingOf({ logs: paused, feedback: quick }), {
    drain_seconds: 1,
    oldest_age_seconds: 1,
    rows: 3,
    paused: 1,
  })
})

t.test('while Redis cannot be read nothing is known', async (t) => {
  t.equal(scalingOf({}), undefined)
})
