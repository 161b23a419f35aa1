import { randomUUID } from 'node:crypto'
import { type ClickHouse } from '@intake/clickhouse'
import { findLostShards, markShards, restoreRegistry } from '@intake/queue'
import { createWaitingEntries } from '@intake/access'
import { claimInstallation, readInstallation as readFromRedis, type Redis } from '@intake/redis'
import {
  readInstallation as readFromClickHouse,
  writeInstallation as writeToClickHouse,
} from '../installation.ts'

/** A failure of the setup. The message is for an operator. */
export class SetupError extends Error {
  override name = 'SetupError'
}

/**
 * Marks Redis and ClickHouse as belonging together. A Redis that is empty after a restart (because
 * its volume was lost) has lost accepted records. While Redis lacks the mark, gateways accept no
 * records, and only an operator can decide to continue.
 */
export async function joinInstallation(options: {
  clickhouse: ClickHouse
  redis: Redis
  acceptEmptyRedis: boolean
  who: string
}): Promise<void> {
  const { clickhouse, redis, acceptEmptyRedis, who } = options
  const [known, marked] = await Promise.all([readFromClickHouse(clickhouse), readFromRedis(redis)])
  if (known !== null && marked !== null && known !== marked) {
    throw new SetupError('This Redis and this ClickHouse belong to different installations.')
  }
  if (known !== null && marked === null && !acceptEmptyRedis) throw lost('Redis holds')
  // Restores the registry of the queue shards before it sets the mark. As soon as Redis has the
  // mark, workers store watermarks, which ignore shards that are not registered.
  if (known !== null) await restoreRegistry(redis, known)
  // Marks Redis first, because a mark in ClickHouse without one in Redis means that Redis has lost
  // its data.
  const installation = await claimInstallation(redis, known ?? randomUUID())
  if (known === null) await writeToClickHouse(clickhouse, installation)
  if (known !== null && marked === null) {
    const entry = { who, action: 'redis-loss-accepted', subject: '', detail: {} } as const
    await createWaitingEntries({ redis }).add(entry)
  }
  await requireShards({ redis, installation, acceptEmptyRedis })
}

/** In a Redis Cluster each shard has a mark, because one node may lose its data alone. */
async function requireShards(options: {
  redis: Redis
  installation: string
  acceptEmptyRedis: boolean
}): Promise<void> {
  const { redis, installation, acceptEmptyRedis } = options
  const shards = await findLostShards(redis, installation)
  if (shards.length === 0) return
  if (!acceptEmptyRedis) throw lost(`The Redis of the queue shards ${shards.join(', ')} holds`)
  await markShards(redis, shards, installation)
}

const lost = (whichRedis: string) =>
  new SetupError(
    `${whichRedis} nothing of this installation: it is not the same Redis, or it has lost its data ` +
      'with all records that were waiting in it. Restore the data, or accept the loss ' +
      '(docs/operations/redis-lost-its-data.md).',
  )
