import { installationKeyOf } from '@intake/redis'
import { queuePrefix } from '../names.ts'

/**
 * The hash tags of the shards, by number. They never change, because frames wait under them. For
 * every N, the first N fall evenly on up to six masters of a Redis Cluster: their counts differ by
 * at most one (test/shards/shards.test.ts).
 */
const tags = [
  queuePrefix,
  '{intake:1a}',
  '{intake:2c}',
  '{intake:3}',
  '{intake:4d}',
  '{intake:5a}',
  '{intake:6a}',
  '{intake:7d}',
  '{intake:8w}',
  '{intake:9c}',
  '{intake:10c}',
  '{intake:11}',
  '{intake:12}',
  '{intake:13a}',
  '{intake:14dd}',
  '{intake:15b}',
] as const

export const shardsMax = tags.length

/** Returns the prefix of all keys of a shard. Shard 0 has the keys of a queue without shards. */
export function shardPrefix(shard: number): string {
  const tag = tags[shard]
  if (tag === undefined) throw new RangeError(`there is no shard ${shard}`)
  return tag
}

/** The mark of the installation in a shard. A registered shard without it has lost its frames. */
export const shardMarkKey = (shard: number): string => installationKeyOf(shardPrefix(shard))
