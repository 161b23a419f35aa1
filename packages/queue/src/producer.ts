import { IntakeError } from '@intake/contract'
import { commandRetries, isRefusal } from '@intake/redis'
import { retryUntil, systemClock, type Attempt, type Clock } from '@intake/runtime'
import { createFrame, createJobId, type NewFrame } from './frame.ts'
import type { JobSink } from './job-sink.ts'
import { queueError } from './queue-error.ts'

export interface FrameProducer {
  /**
   * Resolves when Redis has confirmed the frame; with `appendfsync always` it is then on disk. An
   * attempt without a response is repeated until the deadline, with the same job id and to the same
   * sink.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `queue_unavailable` or `queue_full`: certainly not stored;
   * `outcome_unknown`: sent, but no response
   */
  add(frame: NewFrame, deadline: number): Promise<void>
}

/**
 * Creates the producer of one queue.
 *
 * @param options.sink belongs to the caller, who closes it after the last frame has settled
 */
export function createFrameProducer(options: { sink: JobSink; clock?: Clock }): FrameProducer {
  const { sink, clock = systemClock } = options

  return {
    add(frame, deadline) {
      const data = createFrame(frame)
      const id = createJobId(frame)
      let mayBeStored = false

      async function addOnce(attempt: Attempt): Promise<void> {
        await sink.ready()
        // An abandoned attempt must not store the frame later, after the caller got an error.
        if (attempt.isAbandoned) return
        const before = mayBeStored
        mayBeStored = true
        try {
          await sink.add(id, data)
        } catch (error) {
          // A refusal says nothing about an earlier attempt that got no response.
          if (isRefusal(error) && !attempt.isAbandoned) mayBeStored = before
          throw error
        }
      }

      const retries = { ...commandRetries, what: 'enqueue', deadline, clock }
      return retryUntil(addOnce, retries).catch((cause: unknown) => {
        throw notConfirmed(cause, mayBeStored)
      })
    },
  }
}

/** Creates the error for a frame that Redis has not confirmed. */
export function notConfirmed(cause: unknown, mayBeStored: boolean): IntakeError {
  if (!mayBeStored) return queueError(cause)
  return new IntakeError('outcome_unknown', 'The queue did not respond in time.', { cause })
}
