import { startPolling } from '@intake/runtime'
import { Cluster } from 'ioredis'
import type { Redis, Server } from './connect.ts'
import { readDurability, type Durability } from './durability.ts'
import { mainTag, primariesOf } from './servers.ts'
import { readState, type RedisState, type StateOptions } from './state.ts'

export interface RedisPoll {
  /** Undefined until Redis has responded once. */
  state(): RedisState | undefined
  /** Since the last response; `Infinity` before the first one. */
  silentMs(): number
  /**
   * A new connection may lead to a Redis that has lost its data.
   *
   * @throws {Error} until Redis was examined after it was last connected, and while it belongs to no installation
   */
  requireExamined(): void
  close(): void
}

const configIntervalMs = 3_000

/**
 * Polls the state of Redis every `intervalMs`, and its configuration every three seconds. Polls both when the
 * connection becomes ready, because it may lead to another Redis then, and reads the configuration when
 * other servers of a cluster hold the keys. Before the first response the intervals are shorter. While Redis
 * is unavailable, the last known state stays.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 */
export function pollRedisState(
  options: {
    redis: Redis
    intervalMs: number
    onError: (error: unknown) => void
  } & Partial<StateOptions>,
): RedisPoll {
  const { redis, intervalMs, onError } = options
  const { tags = [mainTag], replicasMin = 0, assertsDurability = false } = options
  let state: RedisState | undefined
  let respondedAt = -Infinity
  /** How often a server was connected, and how often when the last successful poll began. */
  let connections = 0
  let examined = -1
  let durability: Durability = { violations: [], isUnreadable: false }
  let configReadAt = -Infinity
  let configReadFrom = ''

  async function readDurabilityAtTimes(): Promise<Durability> {
    const primaries = primariesOf(redis, tags)
    const names = primaries.map(({ name }) => name).join()
    const isRecent = performance.now() - configReadAt < configIntervalMs
    if (isRecent && names === configReadFrom) return durability
    durability = await readDurability(primaries)
    configReadAt = performance.now()
    configReadFrom = names
    return durability
  }

  const polling = startPolling({
    async poll() {
      const before = connections
      state = await readState(redis, {
        previous: state,
        readDurability: readDurabilityAtTimes,
        tags,
        replicasMin,
        assertsDurability,
      })
      respondedAt = performance.now()
      examined = before
    },
    intervalMs,
    onError,
  })
  function onReady(): void {
    connections++
    configReadAt = -Infinity
    // Each poll of a replica closes the connection: without the pause, polls would follow each other.
    if (state?.writeRefusal === undefined) polling.pollNow()
  }
  redis.on('ready', onReady)
  const onNode = (node: Server) => void node.on('ready', onReady)
  if (redis instanceof Cluster) redis.on('+node', onNode)

  return {
    state: () => state,
    silentMs: () => performance.now() - respondedAt,
    requireExamined() {
      if (examined !== connections) throw new Error('Redis was not examined since it was connected')
      if (state?.installation == null) throw new Error('Redis belongs to no installation')
    },
    close() {
      redis.off('ready', onReady)
      redis.off('+node', onNode)
      polling.close()
    },
  }
}
