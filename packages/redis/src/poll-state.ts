import { startPolling } from '@intake/runtime'
import { Cluster } from 'ioredis'
import { pollCluster } from './cluster/poll-cluster.ts'
import type { Redis } from './connect.ts'
import { PolledServer } from './polled-server.ts'
import { mainTag } from './servers.ts'
import { lostItsData, type RedisState, type StateOptions } from './state.ts'

export interface RedisPoll {
  /**
   * The state of Redis, for a cluster the combined state of all usable servers (see `worstOf`).
   * While the server that holds the keys of `{intake}` does not respond, its last known state is
   * used. Undefined until that server has responded once.
   */
  state(): RedisState | undefined
  /**
   * Milliseconds since the last response of the server that holds the keys of `{intake}`;
   * `Infinity` before the first response.
   */
  silentMs(): number
  /**
   * Returns `host:port` and the reason for each server that refuses writes or has not responded for
   * five seconds. The server of `{intake}` is not among them.
   */
  unusableServers(): string[]
  /**
   * Returns the reason why nothing may be written to the server that holds the keys of a hash tag:
   * the server is unusable, or Redis has lost its data. Returns undefined if there is no reason.
   */
  refusalOf(tag: string): string | undefined
  close(): void
}

export interface PollOptions extends Partial<StateOptions> {
  /** The servers that hold keys of these hash tags are polled, too. */
  tags?: readonly string[]
  intervalMs: number
  onError: (error: unknown) => void
}

/**
 * Polls the state of Redis every `intervalMs`, and its configuration every three seconds. Polls
 * both when the connection becomes ready, because the new connection may lead to another Redis.
 * Before the first response the intervals are shorter.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 */
export function pollRedisState(options: PollOptions & { redis: Redis }): RedisPoll {
  const { redis, intervalMs, onError } = options
  if (redis instanceof Cluster) return pollCluster(redis, options)
  const server = new PolledServer(redis, { ...options, tag: mainTag, respondedAt: -Infinity })
  const polling = startPolling({ poll: () => server.read(), intervalMs, onError })
  function onReady(): void {
    server.forgetConfig()
    // If the server refuses writes (for example because it is a replica), a poll may close the
    // connection. A poll at once after each reconnection would then loop without a pause.
    if (server.state?.writeRefusal === undefined) polling.pollNow()
  }
  redis.on('ready', onReady)

  return {
    state: () => server.state,
    silentMs: () => server.silentMs(),
    unusableServers: () => [],
    refusalOf: () => (server.state?.installation === null ? lostItsData : undefined),
    close() {
      redis.off('ready', onReady)
      polling.close()
    },
  }
}
