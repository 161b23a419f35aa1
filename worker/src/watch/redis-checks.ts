import { pollCheck, type PolledCheck } from '@intake/health'
import { readShards, shardPrefix } from '@intake/queue'
import {
  findWriteRefusal,
  requireConnection,
  requireMemory,
  whileConnected,
  type Redis,
} from '@intake/redis'

export interface RedisChecks {
  /**
   * Whether the server of the hash tag `{intake}` accepts writes. This server stores shard 0 of the
   * log queue, and all other queues.
   */
  writes: PolledCheck
  /** Whether the servers of the other registered shards of the log queue accept writes. */
  shards: PolledCheck
  /** Whether the server of the hash tag `{intake}` has memory left. */
  memory: PolledCheck
  /** Whether the servers of the other registered shards have memory left. */
  shardMemory: PolledCheck
  close(): void
}

export function startRedisChecks(options: {
  redis: Redis
  intervalMs: number
  timeoutMs: number
}): RedisChecks {
  const { redis, ...times } = options
  const start = (check: () => Promise<void>) =>
    pollCheck({ what: 'Redis', check: whileConnected(redis, check), ...times })

  async function requireWrites(tags: readonly string[]): Promise<void> {
    if (tags.length === 0) return
    // Rejects if a server is not connected, because a command would wait for the server.
    await Promise.all(tags.map((tag) => requireConnection(redis, tag)))
    const reason = await findWriteRefusal(redis, { tags })
    if (reason !== undefined) throw new Error(reason)
  }
  const main = shardPrefix(0)
  const otherTags = async () =>
    (await readShards(redis)).map(shardPrefix).filter((tag) => tag !== main)

  const all = {
    writes: start(() => requireWrites([main])),
    shards: start(async () => requireWrites(await otherTags())),
    memory: start(() => requireMemory(redis, [main])),
    shardMemory: start(async () => requireMemory(redis, await otherTags())),
  }
  return {
    ...all,
    close() {
      for (const check of Object.values(all)) check.close()
    },
  }
}
