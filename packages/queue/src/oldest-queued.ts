import type { Redis } from '@intake/redis'
import { readJobTime } from './frame.ts'
import { queueNames, queuePrefix } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

/**
 * Resolves to the arrival of the oldest record of logs and feedback that waits or is claimed, in
 * milliseconds since 1970; to undefined if there is none or its id has no time. Reads two ids of
 * each queue, and leaves out what cannot be read, such as a shard on a server that is down.
 *
 * @throws when nothing can be read
 */
export async function readOldestQueued(
  redis: Redis,
  shards: readonly number[],
): Promise<number | undefined> {
  // Workers take frames from the end of the list.
  const queues = [
    `${queuePrefix}:${queueNames.feedback}`,
    ...shards.map((shard) => `${shardPrefix(shard)}:${queueNames.logs}`),
  ]
  const lists = queues.flatMap((queue) => [`${queue}:wait`, `${queue}:active`])
  const read = await Promise.allSettled(lists.map((list) => redis.lindex(list, -1)))
  const ids = read.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const [first] = read
  if (ids.length === 0 && first?.status === 'rejected') throw first.reason
  const times = ids.flatMap((id) => (id === null ? [] : (readJobTime(id) ?? [])))
  return times.length === 0 ? undefined : Math.min(...times)
}
