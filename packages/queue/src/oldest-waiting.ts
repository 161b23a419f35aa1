import type { Redis } from '@intake/redis'
import { readJobTime } from './frame.ts'
import { queueNames, queuePrefix } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

/**
 * Resolves to the arrival of the oldest record in the frames of logs and feedback that no worker has
 * claimed, in milliseconds since 1970; to undefined if no frame waits, or the id of the oldest has
 * no time. Reads one id from each queue.
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
