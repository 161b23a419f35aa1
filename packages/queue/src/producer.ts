import { IntakeError } from '@intake/contract'
import { isRefusal, retryCommand } from '@intake/redis'
import { systemClock, type Attempt, type Clock } from '@intake/runtime'
import { createFrame, type NewFrame } from './frame.ts'
import { createJobId } from './job-id.ts'
import type { JobSink } from './job-sink.ts'
import { queueError } from './queue-error.ts'
import type { RouteFrame } from './shards/shard-router.ts'

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
 * @param options.sink the only sink; it belongs to the caller, who closes it after the last frame
 * has settled
 * @param options.route chooses among several sinks. A frame that a sink has certainly not stored is
 * offered to the next sink. A frame that a sink may have stored is offered only to that sink until
 * the deadline, because two sinks would both deliver it
 */
export function createFrameProducer(
  options: ({ sink: JobSink } | { route: RouteFrame }) & { clock?: Clock },
): FrameProducer {
  const { clock = systemClock } = options
  const route = 'route' in options ? options.route : onlyTo(options.sink)

  return {
    async add(frame, deadline) {
      const data = createFrame(frame)
      const id = createJobId(frame)
      /** The sink that may have stored the frame. */
      let holder: JobSink | undefined

      async function send(sink: JobSink, state: Attempt): Promise<void> {
        await sink.ready()
        // An abandoned attempt must not store the frame later, after the caller got an error.
        if (state.isAbandoned) return
        const former = holder
        holder = sink
        try {
          await sink.add(id, data)
        } catch (error) {
          if (isRefusal(error) && !state.isAbandoned) holder = former
          throw error
        }
      }

      const attempt = async (state: Attempt) => {
        const refused = new Set<JobSink>()
        for (let sink = holder ?? route(refused); sink !== undefined;) {
          try {
            return await send(sink, state)
          } catch (error) {
            if (holder !== undefined || state.isAbandoned) throw error
            refused.add(sink)
            sink = route(refused)
            if (sink === undefined) throw error
          }
        }
      }
      try {
        await retryCommand(attempt, { what: 'enqueue', deadline, clock })
      } catch (cause) {
        if (holder === undefined) throw queueError(cause)
        throw new IntakeError('outcome_unknown', 'The queue did not respond in time.', { cause })
      }
    },
  }
}

const onlyTo =
  (sink: JobSink): RouteFrame =>
  (refused) =>
    refused.has(sink) ? undefined : sink
