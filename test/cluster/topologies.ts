import { shardPrefix } from '@intake/queue'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { startSentinels } from '@intake/test-kit/redis-sentinel'
import type { RedisServer } from '@intake/test-kit/redis-server'

/** A Redis that survives the loss of one server. */
export interface Topology {
  /** The value of `REDIS_URL`. */
  url: string
  servers: RedisServer[]
  /**
   * The server that holds a shard of the log queue. The server of shard 0 also holds the other
   * queues.
   */
  primaryOf(shard: number): Promise<RedisServer>
  untilWhole(): Promise<void>
  close(): Promise<void>
}

export type TopologyName = 'cluster' | 'sentinel'

export const topologies: Record<
  TopologyName,
  (options: { dataDir: string; config: readonly string[] }) => Promise<Topology>
> = {
  async cluster(options) {
    const cluster = await startRedisCluster(options)
    return { ...cluster, primaryOf: (shard) => cluster.primaryOf(shardPrefix(shard)) }
  },
  async sentinel(options) {
    const sentinels = await startSentinels(options)
    return { ...sentinels, primaryOf: sentinels.primary }
  },
}
