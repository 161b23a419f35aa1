import { queueKinds, type BacklogMonitor, type QueueState } from '@intake/queue'
import { addGauge, byKind, type Registry } from '@intake/runtime/process'

const states = ['waiting', 'active', 'delayed'] as const

/**
 * Every worker reports the same queues: combine workers with `max`, not `sum`. There is no value
 * while Redis cannot be read.
 */
export function registerBacklogMetrics(
  registry: Registry,
  monitor: Pick<BacklogMonitor, 'of' | 'shards'>,
): void {
  function addQueueGauge(
    name: string,
    help: string,
    read: (state: QueueState) => number | undefined,
  ): void {
    addGauge(registry, {
      name,
      help: `${help} (shared).`,
      labels: ['kind'],
      read: byKind(queueKinds, (kind) => {
        const state = monitor.of(kind)
        return state && read(state)
      }),
    })
  }

  addGauge(registry, {
    name: 'intake_backlog_frames',
    help: 'Frames in the queue: waiting, active (claimed by a worker) or delayed (postponed) (shared).',
    labels: ['kind', 'state'],
    read: () =>
      queueKinds.flatMap((kind) => {
        const queue = monitor.of(kind)
        if (queue === undefined) return []
        return states.map((state) => [{ kind, state }, queue[state]] as [object, number])
      }),
  })
  addQueueGauge('intake_backlog_rows', 'Rows of all frames in the queue', ({ rows }) => rows)
  addQueueGauge(
    'intake_backlog_bytes',
    'Bytes of the rows of all frames in the queue, as JSON before compression',
    ({ jsonBytes }) => jsonBytes,
  )
  addQueueGauge(
    'intake_backlog_oldest_age_seconds',
    'Time since the oldest row in the queue arrived; 0 when it is empty',
    ({ oldestAgeSeconds }) => oldestAgeSeconds,
  )
  addQueueGauge(
    'intake_backlog_drain_seconds',
    'Time until the queue has no backlog, at its current speed; +Inf if it is not getting shorter',
    ({ secondsToDrain }) => secondsToDrain,
  )
  addGauge(registry, {
    name: 'intake_queue_shard_rows',
    help: 'Rows in a shard of the log queue (shared).',
    labels: ['shard'],
    read: () =>
      (monitor.shards() ?? []).map(({ shard, rows }) => [{ shard }, rows] as [object, number]),
  })
  addGauge(registry, {
    name: 'intake_redis_memory_use_bytes',
    help: 'Memory of Redis by its use, estimated: the queue here, reservations on the gateway.',
    labels: ['use'],
    read() {
      const queues = queueKinds.map((kind) => monitor.of(kind))
      if (queues.includes(undefined)) return []
      return [[{ use: 'queue' }, queues.reduce((sum, queue) => sum + (queue?.redisBytes ?? 0), 0)]]
    },
  })
}
