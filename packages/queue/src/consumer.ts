import { DelayedError, type Job } from 'bullmq'
import {
  FrameError,
  openFrame,
  queueNames,
  queuePrefix,
  type Frame,
  type RecordKind,
} from '@intake/contract'
import type { Redis } from '@intake/redis'
import { GatheringWorker } from './gathering-worker.ts'
import { watchForStandstill } from './watchdog.ts'

export interface FrameConsumer {
  /** Takes no more frames and waits until the ones in hand have settled. */
  close(): Promise<void>
  /** Frames in the queue, of all consumers together. */
  backlog(): Promise<Backlog>
}

export interface Backlog {
  waiting: number
  /** Being processed, or left behind by a worker that died and not handed out again yet. */
  active: number
  /** Unreadable for this version; tried again every minute. */
  delayed: number
}

const unreadableRetryMs = 60_000
const standstillMs = 60_000

/**
 * Hands every frame of a queue to `process` at least once, `concurrency` of them at a time. A frame
 * leaves the queue only after its `process` resolved. When it rejects, or this process dies, the
 * frame is handed out again, without limit; a frame that cannot be read is kept and tried again
 * every minute, for a newer version may know it.
 *
 * @param options.redis a connection of role `consumer`; it stays the caller's
 * @param options.onLockLost told how many frames are being processed that another worker may take
 * @param options.onStandstill told when this consumer takes nothing although frames are waiting:
 * only a new process helps
 */
export function startFrameConsumer(options: {
  redis: Redis
  kind: RecordKind
  concurrency: number
  process: (frame: Frame) => Promise<void>
  onError: (error: Error) => void
  onUnreadable: (error: FrameError) => void
  onLockLost: (frames: number) => void
  onStandstill: () => void
}): FrameConsumer {
  const { redis, kind, concurrency } = options
  const key = (list: string) => `${queuePrefix}:${queueNames[kind]}:${list}`
  let taken = 0
  let inHand = 0

  const worker = new GatheringWorker(
    queueNames[kind],
    async (job: Job, token) => {
      taken++
      inHand++
      try {
        const frame = openFrame(job.data)
        // The frame has the bytes now; this long text need not live until the insert, too.
        job.data = undefined
        await options.process(frame)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        options.onUnreadable(error)
        await job.moveToDelayed(Date.now() + unreadableRetryMs, token)
        throw new DelayedError()
      } finally {
        inHand--
      }
    },
    {
      connection: redis,
      prefix: queuePrefix,
      concurrency,
      // A frame of a killed worker is handed out again after at most 15 + 2 × 7.5 seconds.
      lockDuration: 15_000,
      stalledInterval: 7_500,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      look: async () => {
        const [count, [oldest]] = await Promise.all([
          redis.llen(key('wait')),
          redis.lrange(key('wait'), -1, -1),
        ])
        return { count, oldest }
      },
    },
  )
  worker.on('error', options.onError)
  worker.on('lockRenewalFailed', (jobIds) => options.onLockLost(jobIds.length))

  /** Commands would gather behind a connection that is away. */
  const requireConnection = () => {
    if (redis.status !== 'ready') throw new Error('not connected to Redis')
  }
  const watchdog = watchForStandstill({
    waiting: async () => {
      requireConnection()
      return redis.llen(key('wait'))
    },
    // What it leaves to another worker is on its way, too.
    progress: () => ({ taken: taken + worker.left, inHand }),
    limitMs: standstillMs,
    onStandstill: options.onStandstill,
  })

  return {
    async close() {
      watchdog.close()
      await worker.close()
    },
    async backlog() {
      requireConnection()
      const [waiting, active, delayed] = await Promise.all([
        redis.llen(key('wait')),
        redis.llen(key('active')),
        redis.zcard(key('delayed')),
      ])
      return { waiting, active, delayed }
    },
  }
}
