import { startPolling } from '@intake/runtime'
import { readClock, type ClockReading } from './clock.ts'
import type { Redis } from './connect.ts'
import { findDurabilityViolations } from './durability.ts'
import { infoField } from './info-field.ts'
import { readInstallation } from './installation.ts'
import { describeRefusal, findWriteRefusal } from './write-refusal.ts'

/** The state of a Redis, at most `intervalMs` old while Redis responds. */
export interface RedisState {
  /** Why it accepts no writes, in words for an operator; undefined: it accepts them. */
  writeRefusal: string | undefined
  /** Why it could lose data that it has confirmed, in words for an operator; empty: it could not. */
  durabilityViolations: string[]
  /** Memory used, as a share of `memoryBytesMax`, from 0 to 1. */
  memoryUsed: number
  /** `maxmemory`, or if that is not set the memory of the machine. */
  memoryBytesMax: number
  /** The installation that this Redis belongs to; null when it is new or has lost its data. */
  installation: string | null
  /** Undefined until Redis has returned its time. */
  clock: ClockReading | undefined
}

export interface RedisPoll {
  /** Undefined until Redis has responded once. */
  state(): RedisState | undefined
  close(): void
}

const configIntervalMs = 60_000

/** The state of a Redis that refuses even reads. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  installation: null,
  clock: undefined,
}

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

  async function readConfig(): Promise<void> {
    if (performance.now() - configReadAt < configIntervalMs) return
    durabilityViolations = await findDurabilityViolations(redis)
    configReadAt = performance.now()
    if (durabilityViolations.length > 0) options.onDurabilityViolations(durabilityViolations)
  }

  async function readState(): Promise<RedisState> {
    try {
      const writeRefusal = await findWriteRefusal(redis)
      // The connection to a replica is being closed, so nothing more can be read.
      if (writeRefusal !== undefined) return { ...(state ?? unknown), writeRefusal }
      await readConfig()
      const [memory, installation] = await Promise.all([
        redis.info('memory'),
        readInstallation(redis),
      ])
      // Sent when no other command is pending, so that it does not wait for one.
      const clock = await readClock(redis)
      return { writeRefusal, durabilityViolations, ...memoryOf(memory), installation, clock }
    } catch (error) {
      return { ...(state ?? unknown), writeRefusal: describeRefusal(error) }
    }
  }

  const polling = startPolling({
    async poll() {
      const before = state?.writeRefusal
      state = await readState()
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

function memoryOf(info: string): Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'> {
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
