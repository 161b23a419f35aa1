import { IntakeError } from '@intake/contract'
import { commandRetries, isRefusal } from '@intake/redis'
import { retryUntil, systemClock, type Attempt, type Clock } from '@intake/runtime'
import { createFrame, createJobId, type NewFrame } from './frame.ts'
import type { JobSink } from './job-sink.ts'
import { queueError } from './queue-error.ts'

export type FrameProducer = ReturnType<typeof createFrameProducer>

/**
 * Chooses where a frame is added.
 *
 * @param refused sinks that have certainly not stored the frame
 * @returns the sink for the frame; undefined if no sink is left
 */
export type RouteFrame = (refused: ReadonlySet<JobSink>) => JobSink | undefined

/**
 * @param options.sink the sink of all frames, or what chooses one for each. Sinks belong to the
 * caller, who closes them after the last frame has settled
 */
export function createFrameProducer(options: { sink: JobSink | RouteFrame; clock?: Clock }) {
  const { sink, clock = systemClock } = options

  return {
    /**
     * Resolves when Redis has confirmed the frame; with `appendfsync always` it is then on disk. An
     * attempt without a response is repeated until the deadline, with the same job id and to the
     * same sink.
     *
     * @param deadline in milliseconds of `clock.now()`
     * @throws {IntakeError} `queue_unavailable` or `queue_full`: certainly not stored;
     * `outcome_unknown`: sent, but no response
     */
    async add(frame: NewFrame, deadline: number): Promise<void> {
      const data = createFrame(frame)
      const id = createJobId(frame)
      /** The sink that may have stored the frame; two would both deliver it. */
      let holder: JobSink | undefined

      async function send(attempt: Attempt): Promise<void> {
        const refused = new Set<JobSink>()
        let to = holder ?? (typeof sink === 'function' ? sink(refused) : sink)
        while (to !== undefined) {
          const former = holder
          try {
            await to.ready()
            // An abandoned attempt must not store the frame later, after the caller got an error.
            if (attempt.isAbandoned) throw new Error('the attempt is abandoned')
            holder = to
            return await to.add(id, data)
          } catch (error) {
            // A refusal says nothing about an earlier attempt that got no response.
            if (isRefusal(error) && !attempt.isAbandoned) holder = former
            if (holder !== undefined || attempt.isAbandoned) throw error
            refused.add(to)
            to = typeof sink === 'function' ? sink(refused) : undefined
            if (to === undefined) throw error
          }
        }
      }

      try {
        await retryUntil(send, { ...commandRetries, what: 'enqueue', deadline, clock })
      } catch (cause) {
        if (holder === undefined) throw queueError(cause)
        throw new IntakeError('outcome_unknown', 'The queue did not respond in time.', { cause })
      }
    },
  }
}
