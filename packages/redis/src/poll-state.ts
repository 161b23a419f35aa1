import { startPolling } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { findDurabilityViolations } from './durability.ts'
import { readState, type RedisState } from './state.ts'

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
 * connection becomes ready, because it may lead to another Redis then. Before the first response the
 * intervals are shorter. While Redis is unavailable, the last known state stays.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 */
export function pollRedisState(options: {
  redis: Redis
  intervalMs: number
  onError: (error: unknown) => void
}): RedisPoll {
  const { redis, intervalMs, onError } = options
  let state: RedisState | undefined
  let respondedAt = -Infinity
  let durabilityViolations: string[] = []
  let configReadAt = -Infinity

  async function readViolations(): Promise<string[]> {
    if (performance.now() - configReadAt < configIntervalMs) return durabilityViolations
    durabilityViolations = await findDurabilityViolations(redis)
    configReadAt = performance.now()
    return durabilityViolations
  }

  const polling = startPolling({
    async poll() {
      state = await readState(redis, { previous: state, readViolations })
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
