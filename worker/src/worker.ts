import { kinds, type RecordKind } from '@intake/contract'
import { startFrameConsumer, type FrameConsumer } from '@intake/queue'
import type { Redis } from '@intake/redis'
import { limitRepeats, type Logger, type Running } from '@intake/runtime'
import { createCoalescer } from './coalescer.ts'
import type { WorkerMetrics } from './metrics.ts'
import type { RowStore } from './ports.ts'
import { storeFrames } from './store-frames.ts'

/** Frames in hand at once, per queue: half of them in an insert while the other half gathers. */
const framesInHand: Record<RecordKind, number> = { logs: 512, feedback: 64 }
/** After the frames that gathered in the queue have been taken (packages/queue). */
const lingerMs = 150
/** Of JSON: an event that compresses well costs ClickHouse as much as any other. */
const insertBytesMax = 64 * 1024 * 1024

/** Moves frames from each queue into its table: take, merge, insert, complete. */
export function startWorker(options: {
  redis: Redis
  store: RowStore
  metrics: WorkerMetrics
  log: Logger
}): Running {
  const { redis, store, metrics, log } = options
  const stop = new AbortController()
  // Both queues are in one Redis: what happens to it is said once.
  const onError = limitRepeats((err, omitted) => log.warn({ err, omitted }, 'queue error'))

  const consume = (kind: RecordKind): FrameConsumer => {
    const coalescer = createCoalescer({
      insert: (frames) => storeFrames(frames, { store, kind, metrics, log, signal: stop.signal }),
      lingerMs,
      framesMax: framesInHand[kind] / 2,
      bytesMax: insertBytesMax,
    })
    const consumer = startFrameConsumer({
      redis,
      kind,
      concurrency: framesInHand[kind],
      process: (frame) => coalescer.add(frame),
      onError,
      onUnreadable(err) {
        metrics.unreadable(kind)
        const help = 'docs/operations/frame-unreadable.md'
        log.error({ err, kind, help }, 'a frame cannot be read; it is kept')
      },
      onLockLost(frames) {
        metrics.lockLost(kind, frames)
        const help = 'docs/operations/locks-lost.md'
        log.warn({ kind, frames, help }, 'locks lost: another worker may store the same rows again')
      },
      onStandstill() {
        const help = 'docs/operations/worker-standstill.md'
        log.error({ kind, help }, 'frames are waiting and none is taken: ending this process')
        throw new Error('the worker stands still')
      },
    })
    metrics.watchBacklog(kind, consumer.backlog)
    return consumer
  }
  const consumers = kinds.map(consume)

  return {
    async close() {
      const closed = Promise.all(consumers.map((consumer) => consumer.close()))
      // An insert that is being repeated would hold the process; its jobs go back to the queue.
      const timer = setTimeout(() => stop.abort(), 3_000)
      await closed
      clearTimeout(timer)
    },
  }
}
