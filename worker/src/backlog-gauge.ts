import type { Backlog, QueueName } from '@intake/queue'
import { Gauge, withTimeout, type Registry } from '@intake/runtime'

export interface BacklogGauge {
  /** Sets how the backlog of a kind is read each time the metrics are read. */
  watch(kind: QueueName, read: () => Promise<Backlog>): void
}

const timeoutMs = 2_000

/** The metric `intake_queue_frames`. */
export function createBacklogGauge(registry: Registry): BacklogGauge {
  const reads = new Map<QueueName, () => Promise<Backlog>>()
  const queued = new Gauge({
    name: 'intake_queue_frames',
    help: 'Frames in the queue, for all workers together.',
    labelNames: ['kind', 'state'],
    registers: [],
    async collect() {
      // While Redis is unavailable there is no value, and an old one would be wrong.
      this.reset()
      for (const [kind, read] of reads) {
        const backlog = await withTimeout(read(), timeoutMs, 'Redis').catch(() => ({}))
        for (const [state, frames] of Object.entries(backlog)) this.set({ kind, state }, frames)
      }
    },
  })
  registry.registerMetric(queued)
  return { watch: (kind, read) => void reads.set(kind, read) }
}
