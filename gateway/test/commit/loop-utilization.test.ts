import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createLoopUtilization } from '../../src/commit/loop-utilization.ts'

/** Simulates a process. The test decides when its event loop is busy and idle. */
function pretend(t: Test) {
  let now = 1_000
  let active = 0
  const meter = mock.method(performance, 'eventLoopUtilization', () => ({
    active,
    idle: now - active,
    utilization: active / now,
  }))
  t.teardown(() => {
    meter.mock.restore()
  })
  return {
    clock: { now: () => now },
    work: (ms: number) => {
      now += ms
      active += ms
    },
    wait: (ms: number) => (now += ms),
    /** Time that passes after the clock was read, and before the event loop was read. */
    workBetween: (ms: number) => (active += ms),
    readings: () => meter.mock.callCount(),
  }
}

t.test('returns the share of the last tenth of a second until the next one is complete', (t) => {
  const { clock, work, wait } = pretend(t)
  const utilization = createLoopUtilization(clock)
  t.equal(utilization(), 0, 'nothing measured yet')
  work(80)
  wait(19)
  t.equal(utilization(), 0, 'no complete window yet')
  wait(1)
  t.equal(utilization(), 0.8)
  work(99)
  t.equal(utilization(), 0.8)
  work(1)
  t.equal(utilization(), 1)
  t.end()
})

t.test('the event loop is read once per window, however many calls there are', (t) => {
  const { clock, work, readings } = pretend(t)
  const utilization = createLoopUtilization(clock)
  for (let asked = 0; asked < 50; asked++) {
    work(1)
    utilization()
  }
  t.equal(readings(), 1, 'at the start')
  work(50)
  utilization()
  t.equal(readings(), 2)
  t.end()
})

t.test('a window without calls lasts until the next call', (t) => {
  const { clock, work, wait } = pretend(t)
  const utilization = createLoopUtilization(clock)
  wait(9_900)
  work(100)
  t.equal(utilization(), 0.01)
  work(100)
  t.equal(utilization(), 1)
  t.end()
})

t.test('it is at most 1, although the process waits between its two readings', (t) => {
  const { clock, work, workBetween } = pretend(t)
  const utilization = createLoopUtilization(clock)
  work(100)
  workBetween(4)
  t.equal(utilization(), 1)
  t.end()
})

t.test('for the current process it is between 0 and 1', async (t) => {
  // Node reports a utilization of 0 until the event loop has started.
  await new Promise((resolve) => setImmediate(resolve))
  const utilization = createLoopUtilization()
  const until = performance.now() + 100
  while (performance.now() < until);
  const share = utilization()
  t.ok(share > 0 && share <= 1, String(share))
})
