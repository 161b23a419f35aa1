import { kinds, type RecordKind } from '@intake/contract'
import { queueNames, queuePrefix, shardPrefix } from '@intake/queue'
import type { Redis } from '@intake/redis'
import { until } from '@intake/test-kit/until'

export const queueKey = (kind: RecordKind, part: string, prefix = queuePrefix) =>
  `${prefix}:${queueNames[kind]}:${part}`

export interface Backlog {
  waiting: number
  active: number
  delayed: number
  failed: number
}

/**
 * Reads the contents of the queues directly from Redis. The product's code is used only for the
 * names of the Redis keys.
 *
 * @param shards the number of shards of the log queue
 */
export async function backlogOf(keys: Redis, shards = 1): Promise<Backlog> {
  const prefixes = Array.from({ length: shards }, (_, shard) => shardPrefix(shard))
  const all = await Promise.all(
    prefixes
      .flatMap((prefix) => kinds.map((kind) => (part: string) => queueKey(kind, part, prefix)))
      .map(async (key) => ({
        waiting: (await keys.llen(key('wait'))) + (await keys.llen(key('paused'))),
        active: await keys.llen(key('active')),
        delayed: (await keys.zcard(key('delayed'))) + (await keys.zcard(key('prioritized'))),
        failed: await keys.zcard(key('failed')),
      })),
  )
  const total: Backlog = { waiting: 0, active: 0, delayed: 0, failed: 0 }
  for (const one of all) {
    for (const name of Object.keys(total) as (keyof Backlog)[]) total[name] += one[name]
  }
  return total
}

/** The number of frames with counts of outcomes that are not stored yet. */
export async function outcomeFramesLeft(keys: Redis): Promise<number> {
  const key = (part: string) => `${queuePrefix}:${queueNames.outcomes}:${part}`
  const lengths = await Promise.all([
    keys.llen(key('wait')),
    keys.llen(key('active')),
    keys.zcard(key('delayed')),
  ])
  return lengths.reduce((sum, length) => sum + length, 0)
}

/** The number of redeliveries that BullMQ's event stream still contains. */
export async function redeliveriesOf(keys: Redis): Promise<number> {
  let again = 0
  for (const kind of kinds) {
    const seen = new Set<string>()
    const entries = await keys.xrange(queueKey(kind, 'events'), '-', '+')
    for (const [, fields] of entries) {
      const event = fields[fields.indexOf('event') + 1]
      const jobId = fields[fields.indexOf('jobId') + 1] ?? ''
      if (event !== 'active') continue
      if (seen.has(jobId)) again++
      seen.add(jobId)
    }
  }
  return again
}

/**
 * The ids of the log frames that workers have claimed. Frames of workers that died are included.
 */
export const framesInHand = (keys: Redis) => keys.lrange(queueKey('logs', 'active'), 0, -1)

/** Returns those of `ids` whose frames are not completed. */
export async function notDone(keys: Redis, ids: string[]): Promise<string[]> {
  const left = new Set(await framesLeft(keys))
  return ids.filter((id) => left.has(id))
}

export async function untilDone(keys: Redis, ids: string[]): Promise<void> {
  let left = ids
  await until(
    'these frames are done',
    async () => {
      left = await notDone(keys, left)
      return left.length === 0
    },
    { progress: () => left.length },
  )
}

/** The ids of the log frames that are waiting or in progress. */
export async function framesLeft(keys: Redis): Promise<string[]> {
  return [...(await keys.lrange(queueKey('logs', 'wait'), 0, -1)), ...(await framesInHand(keys))]
}

/** The memory used by Redis, in bytes. */
export async function memoryUsed(keys: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await keys.info('memory'))?.[1])
}
