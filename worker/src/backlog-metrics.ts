import { queueNames, type QueueName } from '@intake/queue'
import { Gauge, type Registry } from '@intake/runtime'
import type { BacklogMonitor, QueueState } from './backlog-monitor.ts'

/** Every worker reports the same queues: take `max`, not `sum`. While Redis cannot be read there is no value. */
export function registerBacklogMetrics(registry: Registry, monitor: BacklogMonitor): void {
  const kinds = Object.keys(queueNames) as QueueName[]

  function gauge(name: string, help: string, read: (state: QueueState) => number | undefined) {
    const metric = new Gauge({
      name,
      help,
      labelNames: ['kind'],
      registers: [],
      collect() {
        this.reset()
        for (const kind of kinds) {
          const state = monitor.of(kind)
          const value = state && read(state)
          if (value !== undefined) this.set({ kind }, value)
        }
      },
    })
    registry.registerMetric(metric)
  }

  const frames = new Gauge({
    name: 'intake_queue_frames',
    help: 'Frames in the queue: waiting, active (claimed by a worker) or delayed (postponed).',
    labelNames: ['kind', 'state'],
    registers: [],
    collect() {
      this.reset()
      for (const kind of kinds) {
        const state = monitor.of(kind)
        if (state === undefined) continue
        for (const name of ['waiting', 'active', 'delayed'] as const)
          this.set({ kind, state: name }, state[name])
      }
    },
  })
  registry.registerMetric(frames)
  gauge('intake_queue_rows', 'Rows of all frames in the queue.', ({ rows }) => rows)
  gauge(
    'intake_queue_bytes',
    'Bytes of these rows as JSON, before compression.',
    ({ jsonBytes }) => jsonBytes,
  )
  gauge(
    'intake_queue_oldest_age_seconds',
    'Time since the oldest row in the queue arrived; 0 when it is empty.',
    ({ oldestAgeSeconds }) => oldestAgeSeconds,
  )
  gauge(
    'intake_queue_drain_seconds',
    'Time until the queue has no backlog, at the present speed; +Inf when it does not become shorter.',
    ({ secondsToDrain }) => secondsToDrain,
  )
}
