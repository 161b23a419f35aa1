import { systemClock, type Clock } from '@intake/runtime'
import type { JobSink } from '../job-sink.ts'

/**
 * Chooses where a frame is added.
 *
 * @param refused sinks that have certainly not stored the frame
 * @returns the sink for the frame; undefined if no sink is left
 */
export type RouteFrame = (refused: ReadonlySet<JobSink>) => JobSink | undefined

const avoidMs = 1_000

/**
 * Spreads frames over shards: each frame goes to the shard with the fewest frames in flight. If
 * several shards have equally few, they take turns. For one second after a command to a shard has
 * failed, that shard is the last choice. Only usable shards get frames. If none is usable, shard 0
 * gets them, and its error gives the reason.
 *
 * @param options.sinks by number of the shard; they belong to the caller
 */
export function createShardRouter(options: {
  sinks: readonly JobSink[]
  isUsable: (shard: number) => boolean
  clock?: Clock
}): RouteFrame {
  const { isUsable, clock = systemClock } = options
  let turn = 0
  const shards = options.sinks.map((sink, number) => {
    const shard = { number, inFlight: 0, avoidUntil: -Infinity, sink: { ...sink } }
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
    shard.sink.ready = () => watched(() => sink.ready())
    shard.sink.add = (id, data) => watched(() => sink.add(id, data))
    return shard
  })
  const [first] = shards

  return (refused) => {
    turn = (turn + 1) % shards.length
    const inTurn = [...shards.slice(turn), ...shards.slice(0, turn)]
    const now = clock.now()
    const cost = (shard: (typeof shards)[number]) =>
      shard.inFlight + (shard.avoidUntil > now ? 1_000_000 : 0)
    const usable = inTurn.filter(({ number, sink }) => isUsable(number) && !refused.has(sink))
    const best = usable.reduce<(typeof shards)[number] | undefined>(
      (least, shard) => (least === undefined || cost(shard) < cost(least) ? shard : least),
      undefined,
    )
    return best?.sink ?? (refused.size === 0 ? first?.sink : undefined)
  }
}
