import { startPolling } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { findDurabilityViolations } from './durability.ts'
import { readState, type RedisState } from './state.ts'

export interface RedisPoll {
  /** Undefined until Redis has responded once. */
  state(): RedisState | undefined
  close(): void
}

const configIntervalMs = 60_000

/**
 * Polls the state of Redis every `intervalMs`, and its configuration every minute. Polls both when the
 * connection becomes ready, because it may lead to another Redis then. Before the first response the
 * intervals are shorter. While Redis is unavailable, the last known state stays.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.onDurabilityViolations called every minute while there are violations
 * @param options.onWriteRefusal called when the reason changes; undefined: Redis accepts writes again
 */
export function pollRedisState(options: {
  redis: Redis
  intervalMs: number
  onDurabilityViolations: (violations: string[]) => void
  onWriteRefusal: (reason: string | undefined) => void
  onError: (error: unknown) => void
}): RedisPoll {
  const { redis, intervalMs } = options
  let state: RedisState | undefined
  let durabilityViolations: string[] = []
  let configReadAt = -Infinity

  async function readViolations(): Promise<string[]> {
    if (performance.now() - configReadAt < configIntervalMs) return durabilityViolations
    durabilityViolations = await findDurabilityViolations(redis)
    configReadAt = performance.now()
    if (durabilityViolations.length > 0) options.onDurabilityViolations(durabilityViolations)
    return durabilityViolations
  }

  const polling = startPolling({
    async poll() {
      const before = state?.writeRefusal
      state = await readState(redis, { previous: state, readViolations })
      if (state.writeRefusal !== before) options.onWriteRefusal(state.writeRefusal)
    },
    intervalMs,
    onError: options.onError,
  })
  function onReady(): void {
    configReadAt = -Infinity
    // Each poll of a replica closes the connection: without the pause, polls would follow each other.
    if (state?.writeRefusal === undefined) polling.pollNow()
  }
  redis.on('ready', onReady)

  return {
    state: () => state,
    close() {
      redis.off('ready', onReady)
      polling.close()
    },
  }
}
