import type { Redis } from '@intake/redis'
import { readJobTime } from './frame.ts'
import { queueNames, queuePrefix } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

/**
 * Resolves to the arrival of the oldest record that no worker has claimed, of logs and feedback, in
 * milliseconds since 1970; to undefined if none waits or its id has no time. Reads one id of each
 * queue.
 *
 * @param shards the shards of the log queue
 */
export async function readOldestWaiting(
  redis: Redis,
  shards: readonly number[],
): Promise<number | undefined> {
  // Workers take frames from the end of the list.
  const queues = [
    `${queuePrefix}:${queueNames.feedback}`,
    ...shards.map((shard) => `${shardPrefix(shard)}:${queueNames.logs}`),
  ]
  const ids = await Promise.all(queues.map((queue) => redis.lindex(`${queue}:wait`, -1)))
  const times = ids.flatMap((id) => (id === null ? [] : (readJobTime(id) ?? [])))
  return times.length === 0 ? undefined : Math.min(...times)
}
