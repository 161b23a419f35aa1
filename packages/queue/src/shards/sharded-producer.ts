import { systemClock, type Clock } from '@intake/runtime'
import type { JobSink } from '../job-sink.ts'
import { createFrameProducer, type FrameProducer, type RouteFrame } from '../producer.ts'

const avoidMs = 1_000

interface ShardOptions {
  /** By number of the shard. */
  sinks: readonly JobSink[]
  isUsable: (shard: number) => boolean
  clock?: Clock
}

/**
 * Each frame goes to the usable shard with the fewest frames in flight; equal ones take turns. For
 * one second after a command to a shard has failed, that shard is the last choice. If none is
 * usable, shard 0 gets the frame, and its error gives the reason.
 */
export function createShardedProducer(options: ShardOptions): FrameProducer {
  const { sinks, isUsable, clock = systemClock } = options
  return createFrameProducer({ sink: createRoute({ sinks, isUsable, clock }), clock })
}

function createRoute({ sinks, isUsable, clock }: Required<ShardOptions>): RouteFrame {
  let turn = 0
  const shards = sinks.map((sink, number) => {
    async function watched<Result>(command: () => Promise<Result>): Promise<Result> {
      shard.inFlight++
      try {
        return await command()
      } catch (error) {
        shard.avoidUntil = clock.now() + avoidMs
        throw error
      } finally {
        shard.inFlight--
      }
    }
    const shard = {
      number,
      inFlight: 0,
      avoidUntil: -Infinity,
      sink: {
        ...sink,
        ready: () => watched(() => sink.ready()),
        add: (id, data) => watched(() => sink.add(id, data)),
      } satisfies JobSink,
    }
    return shard
  })

  return (refused) => {
    turn = (turn + 1) % shards.length
    const now = clock.now()
    const cost = ({ inFlight, avoidUntil }: (typeof shards)[number]) =>
      inFlight + (avoidUntil > now ? 1_000_000 : 0)
    const [best] = [...shards.slice(turn), ...shards.slice(0, turn)]
      .filter(({ number, sink }) => isUsable(number) && !refused.has(sink))
      .toSorted((one, other) => cost(one) - cost(other))
    return best?.sink ?? (refused.size === 0 ? shards[0]?.sink : undefined)
  }
}
