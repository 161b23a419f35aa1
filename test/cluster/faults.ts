import { setTimeout as pause } from 'node:timers/promises'
import { connectRedis } from '@intake/redis'
import type { RedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import type { Topology } from './topologies.ts'

/** A way to lose the primary of a shard. Resolves to the server that was killed. */
export type Fault = (topology: Topology, shard: number) => Promise<RedisServer>
export type FaultName = 'killed' | 'killed, replicas behind'

/** How long the replicas are frozen. It is too short for other servers to consider them failed. */
const behindMs = 1_200

export const faults: Record<FaultName, Fault> = {
  /**
   * Kills the server, but not its machine. Data that the server had written to its sockets
   * therefore still arrives.
   */
  async killed(topology, shard) {
    const primary = await topology.primaryOf(shard)
    await primary.process.kill()
    return primary
  },

  /**
   * Freezes the replicas and cuts their connections, and kills the primary a moment later. The
   * replicas are then behind, as when a machine or its network fails gradually.
   */
  async 'killed, replicas behind'(topology, shard) {
    const primary = await topology.primaryOf(shard)
    const others = topology.servers.filter((server) => server !== primary)
    const redis = connectRedis({ url: primary.url, role: 'consumer', onError: () => undefined })
    try {
      await until('it is connected', () => redis.status === 'ready')
      const replicas = await replicaPorts(redis)
      const frozen = others.filter(({ port }) => replicas.has(port))
      for (const server of frozen) server.process.freeze()
      await redis.call('CLIENT', 'KILL', 'TYPE', 'replica')
      await pause(behindMs)
      await primary.process.kill()
      for (const server of frozen) server.process.thaw()
    } finally {
      redis.disconnect()
    }
    return primary
  },
}

async function replicaPorts(redis: ReturnType<typeof connectRedis>): Promise<Set<number>> {
  const info = await redis.info('replication')
  return new Set(Array.from(info.matchAll(/^slave\d+:.*port=(\d+)/gm), ([, port]) => Number(port)))
}
