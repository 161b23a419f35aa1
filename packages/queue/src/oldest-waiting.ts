import type { Redis } from '@intake/redis'
import { readJobTime } from './job-id.ts'
import { queueNames } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

/**
 * Resolves to the arrival of the oldest record in the log frames that no worker has claimed, in
 * milliseconds since 1970; to undefined if no frame waits, or the id of the oldest has no time.
 * Reads one id from each shard.
 */
export async function readOldestWaiting(
  redis: Redis,
  shards: readonly number[],
): Promise<number | undefined> {
  // Workers take frames from the end of the list.
  const ids = await Promise.all(
    shards.map((shard) => redis.lindex(`${shardPrefix(shard)}:${queueNames.logs}:wait`, -1)),
  )
  const times = ids.flatMap((id) => (id === null ? [] : (readJobTime(id) ?? [])))
  return times.length === 0 ? undefined : Math.min(...times)
}
