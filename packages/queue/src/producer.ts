import { IntakeError } from '@intake/contract'
import { isRefusal, retryCommand } from '@intake/redis'
import { systemClock, type Attempt, type Clock } from '@intake/runtime'
import { createFrame, type Frame } from './frame.ts'
import { createJobId } from './job-id.ts'
import type { JobSink } from './job-sink.ts'
import { queueError } from './queue-error.ts'

/** A frame that is not in the queue yet. */
export interface NewFrame extends Frame {
  /** When its oldest record arrived: the gateway's clock, in milliseconds since 1970. */
  receivedAtMs: number
}

export interface FrameProducer {
  /**
   * Resolves when Redis has confirmed the frame; with `appendfsync always` it is then on disk. An
   * attempt without a response is repeated under the same job id until the deadline.
   *
   * @param deadline in milliseconds of `clock.now()`
   * @throws {IntakeError} `queue_unavailable` or `queue_full`: certainly not stored; `outcome_unknown`:
   * sent, but no response
   */
  add(frame: NewFrame, deadline: number): Promise<void>
}

/** @param options.sink belongs to the caller, who closes it after the last frame has settled */
export function createFrameProducer(options: { sink: JobSink; clock?: Clock }): FrameProducer {
  const { sink, clock = systemClock } = options

  return {
    async add(frame, deadline) {
      const data = createFrame(frame)
      const id = createJobId(frame)
      let isMaybeStored = false
      const attempt = async (state: Attempt) => {
        await sink.ready()
        // An abandoned attempt must not store the frame later, after the caller got an error.
        if (state.isAbandoned) return
        const wasMaybeStored = isMaybeStored
        isMaybeStored = true
        try {
          await sink.add(id, data)
        } catch (error) {
          if (isRefusal(error) && !state.isAbandoned) isMaybeStored = wasMaybeStored
          throw error
        }
      }
      try {
        await retryCommand(attempt, { what: 'enqueue', deadline, clock })
      } catch (cause) {
        if (!isMaybeStored) throw queueError(cause)
        throw new IntakeError('outcome_unknown', 'The queue did not respond in time.', { cause })
      }
    },
  }
}
