import t from 'tap'
import type { Backlog, Backlogs } from '@intake/queue'
import { Registry } from '@intake/runtime/process'
import { emptyBacklog } from '@intake/test-kit/empty-backlog'
import { createTestClock } from '@intake/test-kit/test-clock'
import { registerBacklogMetrics } from '../../src/watch/backlog-metrics.ts'
import { startBacklogMonitor } from '@intake/queue'

const noon = Date.UTC(2026, 10, 23, 12)

/** Starts a monitor. `set` sets the state of the log queue that the monitor reads. */
function watch() {
  const clock = createTestClock()
  const errors: Error[] = []
  let mayTake = true
  let read: () => Promise<Backlogs> = () => Promise.reject(new Error('no Redis'))
  const monitor = startBacklogMonitor({
    readBacklogs: () => read(),
    mayTake: () => mayTake,
    onError: (error) => errors.push(error),
    clock,
  })
  return {
    clock,
    errors,
    monitor,
    set(logs: Partial<Backlog>) {
      const queues = {
        logs: { ...emptyBacklog, ...logs },
        feedback: emptyBacklog,
        outcomes: emptyBacklog,
      }
      read = () => Promise.resolve({ nowMs: noon, queues, shards: [] })
    },
    forbid: (isForbidden: boolean) => (mayTake = !isForbidden),
    fail: () => (read = () => Promise.reject(new Error('no Redis'))),
  }
}

t.test('the time to drain is that of the last quarter of a minute', async (t) => {
  const { clock, monitor, set } = watch()
  const old = { waiting: 10, oldestMs: noon - 60_000 }
  for (const rows of [40_000, 40_000, 39_000, 37_000]) {
    set({ ...old, rows })
    await clock.advance(5_000)
  }
  t.match(monitor.of('logs'), { rows: 37_000, oldestAgeSeconds: 60, secondsToDrain: 185 })
  for (const rows of [37_000, 38_000, 39_000, 40_000]) {
    set({ ...old, rows })
    await clock.advance(5_000)
  }
  t.equal(monitor.of('logs')?.secondsToDrain, Infinity, 'it grows')
  monitor.close()
})

t.test('a queue that empties as fast as it fills has no backlog', async (t) => {
  const { clock, monitor, set } = watch()
  set({ waiting: 3, rows: 100, oldestMs: noon - 400 })
  await clock.advance(5_000)
  t.match(monitor.of('logs'), { oldestAgeSeconds: 0.4, secondsToDrain: 0.4 })
  set({})
  await clock.advance(5_000)
  t.match(monitor.of('logs'), { oldestAgeSeconds: 0, secondsToDrain: 0 })
  monitor.close()
})

t.test('frames that this worker may not take do not wait for it', async (t) => {
  const { clock, monitor, set, forbid } = watch()
  set({ waiting: 3, rows: 100, oldestMs: noon - 400 })
  forbid(true)
  await clock.advance(60_000)
  t.equal(monitor.of('logs')?.waitingSeconds, 0)
  forbid(false)
  await clock.advance(10_000)
  const { waitingSeconds = 0 } = monitor.of('logs') ?? {}
  t.ok(waitingSeconds > 0 && waitingSeconds <= 10, `${waitingSeconds} s`)
  set({})
  await clock.advance(60_000)
  t.equal(monitor.of('logs')?.waitingSeconds, 0, 'a queue that was empty begins anew')
  monitor.close()
})

t.test('there is no state, and no metric, of queues that cannot be read', async (t) => {
  const { clock, errors, monitor, set, fail } = watch()
  const registry = new Registry()
  registerBacklogMetrics(registry, monitor)
  await clock.advance(1_000)
  t.match(errors[0], { message: 'no Redis' })
  t.equal(monitor.of('logs'), undefined)

  set({ waiting: 2, active: 1, rows: 30, jsonBytes: 900, oldestMs: noon - 100_000 })
  await clock.advance(5_000)
  const text = await registry.metrics()
  t.match(text, 'intake_backlog_frames{kind="logs",state="waiting"} 2')
  t.match(text, 'intake_backlog_rows{kind="logs"} 30')
  t.match(text, 'intake_backlog_bytes{kind="logs"} 900')
  t.match(text, 'intake_backlog_oldest_age_seconds{kind="logs"} 100')
  t.match(text, 'intake_backlog_drain_seconds{kind="logs"} +Inf')

  fail()
  await clock.advance(10_000)
  t.ok(monitor.of('logs'), 'for a while the last one is shown')
  await clock.advance(10_000)
  t.notMatch(await registry.metrics(), 'kind="logs"')
  monitor.close()
})
