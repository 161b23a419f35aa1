import { readClock, type ClockReading } from './clock.ts'
import type { Redis } from './connect.ts'
import { infoField } from './info-field.ts'
import { readInstallation } from './installation.ts'
import { describeRefusal, findWriteRefusal } from './write-refusal.ts'

/** The state of a Redis. */
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

/** The state of a Redis that refuses even reads. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  installation: null,
  clock: undefined,
}

/**
 * Reads the state of Redis. What it refuses to tell is taken from `previous`.
 *
 * @param options.readViolations reads why Redis could lose data, or what is known of that
 * @throws when Redis does not respond
 */
export async function readState(
  redis: Redis,
  options: { previous: RedisState | undefined; readViolations: () => Promise<string[]> },
): Promise<RedisState> {
  const { previous = unknown, readViolations } = options
  try {
    const writeRefusal = await findWriteRefusal(redis)
    // The connection to a replica is being closed, so nothing more can be read.
    if (writeRefusal !== undefined) return { ...previous, writeRefusal }
    const durabilityViolations = await readViolations()
    const [memory, installation] = await Promise.all([
      redis.info('memory'),
      readInstallation(redis),
    ])
    // Sent when no other command is pending, so that it does not wait for one.
    const clock = await readClock(redis)
    return { writeRefusal, durabilityViolations, ...memoryOf(memory), installation, clock }
  } catch (error) {
    return { ...previous, writeRefusal: describeRefusal(error) }
  }
}

function memoryOf(info: string): Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'> {
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
