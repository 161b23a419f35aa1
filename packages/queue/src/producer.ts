import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { Queue } from 'bullmq'
import { IntakeError, type RecordKind } from '@intake/contract'
import { isOutOfMemory, ReplyError, type Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { createFrame, type Frame } from './frame.ts'
import { queueNames, queuePrefix } from './names.ts'

export interface FrameProducer {
  /**
   * Resolves when Redis has confirmed the frame; with `appendfsync always` it is then on disk. An
   * attempt without a response is repeated under the same job id until the deadline.
   *
   * @param deadline in milliseconds of `performance.now()`
   * @throws {IntakeError} `queue_unavailable` or `queue_full`: certainly not stored; `outcome_unknown`:
   * sent, but no response
   */
  add(frame: Frame, deadline: number): Promise<void>
  close(): Promise<void>
}

const attemptMs = 1_500
const pauseMs = 100

/** Adds frames of one kind to its queue. The connection belongs to the caller. */
export function createFrameProducer(options: { redis: Redis; kind: RecordKind }): FrameProducer {
  const { redis, kind } = options
  let opening: Promise<Queue> | undefined
  // Opens the queue early, so that the first frame need not wait for it. `add` retries and reports a
  // failure.
  openQueue().catch(() => {})

  return {
    async add(frame, deadline) {
      const data = createFrame(frame)
      const jobOptions = {
        jobId: randomUUID(),
        // A frame can only be completed; an outage must not exhaust its attempts.
        attempts: Number.MAX_SAFE_INTEGER,
        removeOnComplete: true,
      }
      let maybeStored = false
      for (;;) {
        const sentBefore: boolean = maybeStored
        let givenUp = false
        const attempt = async () => {
          const queue = await openQueue()
          // An abandoned attempt must not store the frame later, after the caller got an error.
          if (givenUp || redis.status !== 'ready') throw new Error('not connected to Redis')
          maybeStored = true
          await queue.add(kind, data, jobOptions)
        }
        try {
          const left = deadline - performance.now()
          if (left <= 0) throw new Error('the deadline has passed')
          return await withTimeout(attempt(), Math.min(attemptMs, left), 'enqueue')
        } catch (cause) {
          givenUp = true
          const refused = cause instanceof ReplyError
          if (refused) maybeStored = sentBefore
          if (refused || performance.now() + pauseMs >= deadline) {
            if (maybeStored) {
              throw new IntakeError('outcome_unknown', 'The queue did not respond in time.', {
                cause,
              })
            }
            throw isOutOfMemory(cause)
              ? new IntakeError('queue_full', 'The queue has no memory left.', { cause })
              : new IntakeError('queue_unavailable', 'The queue cannot be reached.', { cause })
          }
        }
        await pause(pauseMs)
      }
    },

    async close() {
      const queue = await opening?.catch(() => undefined)
      await queue?.close()
    },
  }

  /**
   * BullMQ never recovers a queue whose first connection to Redis failed, so such a queue is replaced.
   */
  function openQueue(): Promise<Queue> {
    opening ??= (async () => {
      const queue = new Queue(queueNames[kind], { connection: redis, prefix: queuePrefix })
      // The owner of the connection reports its errors; here they would be reported twice.
      queue.on('error', () => {})
      try {
        await queue.waitUntilReady()
        return queue
      } catch (error) {
        opening = undefined
        throw error
      }
    })()
    return opening
  }
}
