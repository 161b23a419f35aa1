import { startPolling } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { readDurability, type Durability } from './durability.ts'
import { mainTag, primariesOf } from './servers.ts'
import { readState, type RedisState, type StateOptions } from './state.ts'

export interface RedisPoll {
  /** Undefined until Redis has responded once. */
  state(): RedisState | undefined
  /** Since the last response; `Infinity` before the first one. */
  silentMs(): number
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
      state = await readState(redis, {
        previous: state,
        readDurability: readDurabilityAtTimes,
        tags,
        replicasMin,
        assertsDurability,
      })
      respondedAt = performance.now()
    },
    intervalMs,
    onError,
  })
  function onReady(): void {
    configReadAt = -Infinity
    // Each poll of a replica closes the connection: without the pause, polls would follow each other.
    if (state?.writeRefusal === undefined) polling.pollNow()
  }
  redis.on('ready', onReady)

  return {
    state: () => state,
    silentMs: () => performance.now() - respondedAt,
    close() {
      redis.off('ready', onReady)
      polling.close()
    },
  }
}
