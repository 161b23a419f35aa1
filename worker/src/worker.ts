import { kinds, type RecordKind } from '@intake/contract'
import { startFrameConsumer, type FrameConsumer } from '@intake/queue'
import type { Redis } from '@intake/redis'
import type { Logger, ReadinessCheck, Running } from '@intake/runtime'
import { createCoalescer } from './coalescer.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { RowStore } from './ports.ts'
import { storeFrames } from './store-frames.ts'

/** Frames in hand at once, per queue: half of them in an insert while the other half gathers. */
const framesInHand: Record<RecordKind, number> = { logs: 256, feedback: 64 }
const lingerMs = 500
const insertBytesMax = 32 * 1024 * 1024

/** Moves frames from each queue into its table: take, merge, insert, complete. */
export function startWorker(options: {
  redis: Redis
  store: RowStore
  metrics: WorkerMetrics
  log: Logger
}): Running & { checks: Record<string, ReadinessCheck> } {
  const { redis, store, metrics, log } = options
  const stop = new AbortController()

  const consume = (kind: RecordKind): FrameConsumer => {
    const coalescer = createCoalescer({
      insert: (frames) => storeFrames(frames, { store, kind, metrics, log, signal: stop.signal }),
      lingerMs,
      framesMax: framesInHand[kind] / 2,
      bytesMax: insertBytesMax,
    })
    return startFrameConsumer({
      redis,
      kind,
      concurrency: framesInHand[kind],
      process: (frame) => coalescer.add(frame),
      onError: (err) => log.error({ err, kind }, 'queue error'),
    })
  }
  const consumers = kinds.map(consume)

  return {
    checks: {
      queue: () => {
        if (!consumers.every((consumer) => consumer.isRunning())) throw new Error('stopped')
      },
    },
    async close() {
      const closed = Promise.all(consumers.map((consumer) => consumer.close()))
      // An insert that is being repeated would hold the process; its jobs go back to the queue.
      const timer = setTimeout(() => stop.abort(), 3_000)
      await closed
      clearTimeout(timer)
    },
  }
}
