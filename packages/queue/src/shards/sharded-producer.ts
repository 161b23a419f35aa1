import { commandRetries, isRefusal } from '@intake/redis'
import { retryUntil, systemClock, type Attempt, type Clock } from '@intake/runtime'
import { createFrame, createJobId } from '../frame.ts'
import type { JobSink } from '../job-sink.ts'
import { notConfirmed, type FrameProducer } from '../producer.ts'
import { createShardRouter } from './shard-router.ts'

/**
 * Creates the producer of a log queue with several shards. A frame that a shard has certainly not
 * stored is offered to the next one. A frame that a shard may have stored is offered only to that
 * shard until the deadline, because two shards would both deliver it.
 *
 * @param options.sinks by number of the shard; they belong to the caller, who closes them after the
 * last frame has settled
 * @param options.isUsable see `createShardRouter`
 */
export function createShardedProducer(options: {
  sinks: readonly JobSink[]
  isUsable: (shard: number) => boolean
  clock?: Clock
}): FrameProducer {
  const { sinks, isUsable, clock = systemClock } = options
  const route = createShardRouter({ sinks, isUsable, clock })

  return {
    async add(frame, deadline) {
      const data = createFrame(frame)
      const id = createJobId(frame)
      /** The sink that may have stored the frame. */
      let holder: JobSink | undefined

      async function send(sink: JobSink, attempt: Attempt): Promise<void> {
        await sink.ready()
        // An abandoned attempt must not store the frame later, after the caller got an error.
        if (attempt.isAbandoned) return
        const former = holder
        holder = sink
        try {
          await sink.add(id, data)
        } catch (error) {
          if (isRefusal(error) && !attempt.isAbandoned) holder = former
          throw error
        }
      }

      async function sendToAny(attempt: Attempt): Promise<void> {
        const refused = new Set<JobSink>()
        for (let sink = holder ?? route(refused); sink !== undefined;) {
          try {
            return await send(sink, attempt)
          } catch (error) {
            if (holder !== undefined || attempt.isAbandoned) throw error
            refused.add(sink)
            sink = route(refused)
            if (sink === undefined) throw error
          }
        }
      }

      try {
        await retryUntil(sendToAny, { ...commandRetries, what: 'enqueue', deadline, clock })
      } catch (cause) {
        throw notConfirmed(cause, holder !== undefined)
      }
    },
  }
}
