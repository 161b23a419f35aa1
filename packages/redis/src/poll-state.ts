import { readClock, type ClockReading } from './clock.ts'
import type { Redis } from './connect.ts'
import { findDurabilityViolations } from './durability.ts'
import { infoField } from './info-field.ts'
import { installationKey } from './installation.ts'
import { describeRefusal, findWriteRefusal } from './write-refusal.ts'

/** What is known of a Redis from the outside, at most `intervalMs` old while it responds. */
export interface RedisState {
  /** Why it takes no writes, in words for an operator; undefined: it takes them. */
  writeRefusal: string | undefined
  /** Why it could lose what it has confirmed, in words for an operator; empty: it could not. */
  durabilityViolations: string[]
  /** Used share of `maxmemory`, or without that of the machine's memory, from 0 to 1. */
  memoryUsed: number
  /** `maxmemory`, or without that the memory of the machine. */
  memoryBytesMax: number
  /** The installation that this Redis belongs to; null when it is new or has lost its data. */
  installation: string | null
  /** Undefined until Redis has told its time. */
  clock: ClockReading | undefined
}

export interface RedisPoll {
  /** Undefined until Redis has responded once. */
  state(): RedisState | undefined
  close(): void
}

const configIntervalMs = 60_000
const firstRetryMs = 100

/** Of a Redis that refuses even reads. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  installation: null,
  clock: undefined,
}

/**
 * Asks Redis every `intervalMs` for its state, and every minute for its configuration; also when the
 * connection has become ready, because it may be another Redis then. Before the first response it
 * asks more often at the start. While Redis is away, the last known state stays.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.onDurabilityViolations told every minute while there are some
 * @param options.onWriteRefusal told when the reason changes; undefined: Redis takes writes again
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
  let timer: NodeJS.Timeout | undefined
  let endPause = () => {}
  let closed = false

  async function readConfig(): Promise<void> {
    if (performance.now() - configReadAt < configIntervalMs) return
    durabilityViolations = await findDurabilityViolations(redis)
    configReadAt = performance.now()
    if (durabilityViolations.length > 0) options.onDurabilityViolations(durabilityViolations)
  }

  async function readState(): Promise<RedisState> {
    try {
      const writeRefusal = await findWriteRefusal(redis)
      // A connection to a replica is being closed now: nothing more can be asked.
      if (writeRefusal !== undefined) return { ...(state ?? unknown), writeRefusal }
      await readConfig()
      const [memory, installation] = await Promise.all([
        redis.info('memory'),
        redis.get(installationKey),
      ])
      // Alone on the connection, so that it waits for nothing else.
      const clock = await readClock(redis)
      return { writeRefusal, durabilityViolations, ...memoryOf(memory), installation, clock }
    } catch (error) {
      return { ...(state ?? unknown), writeRefusal: describeRefusal(error) }
    }
  }

  async function poll(): Promise<void> {
    try {
      const before = state?.writeRefusal
      state = await readState()
      if (state.writeRefusal !== before) options.onWriteRefusal(state.writeRefusal)
    } catch (error) {
      if (!closed) options.onError(error)
    }
  }

  async function pollUntilClosed(): Promise<void> {
    for (let retryMs = firstRetryMs; ; retryMs = Math.min(2 * retryMs, intervalMs)) {
      await poll()
      if (closed) return
      await new Promise<void>((resolve) => {
        endPause = resolve
        timer = setTimeout(resolve, state === undefined ? retryMs : intervalMs)
      })
    }
  }

  function pollNow(): void {
    clearTimeout(timer)
    endPause()
  }
  function onReady(): void {
    configReadAt = -Infinity
    // Each poll of a replica ends the connection: without the pause they would follow each other.
    if (state?.writeRefusal === undefined) pollNow()
  }
  redis.on('ready', onReady)
  void pollUntilClosed()

  return {
    state: () => state,
    close() {
      closed = true
      redis.off('ready', onReady)
      pollNow()
    },
  }
}

function memoryOf(info: string): Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'> {
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
