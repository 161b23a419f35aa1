import { installationKeyOf } from '@intake/redis'
import { queuePrefix } from '../names.ts'

/**
 * The hash tags of the shards of the log queue, by number. They never change, because frames wait
 * under them. Their slots are chosen so that the first N shards, for every N, fall evenly on the
 * masters of a Redis Cluster with up to six masters: the shard counts of any two masters differ by
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

/**
 * Returns the key under which a shard has the mark of the installation. If a registered shard has
 * no mark, it has lost its frames.
 */
export const shardMarkKey = (shard: number): string => installationKeyOf(shardPrefix(shard))
