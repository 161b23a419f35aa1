import { DelayedError, Worker, type Job } from 'bullmq'
import {
  FrameError,
  openFrame,
  queueNames,
  queuePrefix,
  type Frame,
  type RecordKind,
} from '@intake/contract'
import type { Redis } from '@intake/redis'

export interface FrameConsumer {
  /** Takes no more frames and waits until the ones in hand have settled. */
  close(): Promise<void>
  /** False when the consumer has stopped taking frames although nobody closed it. */
  isRunning(): boolean
}

const unreadableRetryMs = 60_000

/**
 * Hands every frame of a queue to `process` at least once, `concurrency` of them at a time. A frame
 * leaves the queue only after its `process` resolved. When it rejects, or this process dies, the
 * frame is handed out again, without limit; a frame that cannot be read is kept and tried again
 * every minute, for a newer version may know it.
 *
 * @param options.redis a connection of role `consumer`; it stays the caller's
 */
export function startFrameConsumer(options: {
  redis: Redis
  kind: RecordKind
  concurrency: number
  process(frame: Frame): Promise<void>
  onError(error: Error): void
}): FrameConsumer {
  const { redis, kind, concurrency, onError } = options

  const worker = new Worker(
    queueNames[kind],
    async (job: Job, token) => {
      let frame
      try {
        frame = openFrame(job.data)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        onError(error)
        await job.moveToDelayed(Date.now() + unreadableRetryMs, token)
        throw new DelayedError()
      }
      await options.process(frame)
    },
    {
      connection: redis,
      prefix: queuePrefix,
      concurrency,
      // A frame of a killed worker is handed out again after at most 15 + 2 × 7.5 seconds.
      lockDuration: 15_000,
      stalledInterval: 7_500,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    },
  )
  worker.on('error', onError)

  return {
    close: () => worker.close(),
    isRunning: () => worker.isRunning(),
  }
}
