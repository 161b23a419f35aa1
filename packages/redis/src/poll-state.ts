import { startPolling } from '@intake/runtime'
import { Cluster } from 'ioredis'
import { pollCluster } from './cluster/poll-cluster.ts'
import type { Redis } from './connect.ts'
import { createPolledServer } from './polled-server.ts'
import { mainTag } from './servers.ts'
import { lostItsData, type PollOptions, type RedisPoll } from './state.ts'

/**
 * Polls the state every `intervalMs`, and the configuration every three seconds; both at once when
 * the connection becomes ready, because it may lead to another Redis.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 */
export function pollRedisState(options: PollOptions & { redis: Redis }): RedisPoll {
  const { redis, intervalMs, onError } = options
  if (redis instanceof Cluster) return pollCluster(redis, options)
  const server = createPolledServer(redis, { ...options, tag: mainTag, respondedAt: -Infinity })
  const polling = startPolling({ poll: () => server.read(), intervalMs, onError })
  function onReady(): void {
    server.forgetConfig()
    // A poll of a replica may close the connection: a poll after each reconnection would loop.
    if (server.state?.writeRefusal === undefined) polling.pollNow()
  }
  redis.on('ready', onReady)

  return {
    state: () => server.state,
    refresh: server.read,
    silentMs: server.silentMs,
    unusableServers: () => [],
    refusalOf: () => (server.state?.installation === null ? lostItsData : undefined),
    close() {
      redis.off('ready', onReady)
      polling.close()
    },
  }
}
