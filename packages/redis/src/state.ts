import { readClock, type ClockReading } from './clock.ts'
import type { Redis, Server } from './connect.ts'
import type { Durability } from './durability.ts'
import { infoField } from './info-field.ts'
import { readInstallation } from './installation.ts'
import { primariesOf, primaryOf } from './servers.ts'
import { describeRefusal, findWriteRefusal } from './write-refusal.ts'

/** The state of a Redis; of a cluster, that of the worst of its servers. */
export interface RedisState {
  /** Why it accepts no writes, in words for an operator; undefined: it accepts them. */
  writeRefusal: string | undefined
  /** Why it could lose data that it has confirmed, in words for an operator; empty: it could not. */
  durabilityViolations: string[]
  /** It does not let its settings be read, and the operator asserts that they are right. */
  isDurabilityAsserted: boolean
  /** Memory used, as a share of `memoryBytesMax`, from 0 to 1. */
  memoryUsed: number
  /** `maxmemory`, or if that is not set the memory of the machine; of the fullest server. */
  memoryBytesMax: number
  /** The installation that this Redis belongs to; null when it is new or has lost its data. */
  installation: string | null
  /** Undefined until Redis has returned its time. */
  clock: ClockReading | undefined
}

/** The state of a Redis that refuses even reads. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  isDurabilityAsserted: false,
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  installation: null,
  clock: undefined,
}

export interface StateOptions {
  /** The state of every server that holds keys of these hash tags is read. */
  tags: readonly string[]
  /** How many replicas each of them must have. */
  replicasMin: number
  /** The operator asserts the settings that cannot be read. */
  assertsDurability: boolean
}

/**
 * Reads the state of Redis. What it refuses to tell is taken from `previous`.
 *
 * @param options.readDurability reads whether Redis could lose data, or returns what is known of that
 * @throws when Redis does not respond
 */
export async function readState(
  redis: Redis,
  options: StateOptions & {
    previous: RedisState | undefined
    readDurability: () => Promise<Durability>
  },
): Promise<RedisState> {
  const { previous = unknown, readDurability, tags, assertsDurability } = options
  try {
    const writeRefusal = await findWriteRefusal(redis, options)
    // The connection to a replica is being closed, so nothing more can be read.
    if (writeRefusal !== undefined) return { ...previous, writeRefusal }
    const { violations, isUnreadable } = await readDurability()
    const [memories, installation] = await Promise.all([
      Promise.all(primariesOf(redis, tags).map((primary) => readMemory(primary.redis))),
      readInstallation(redis),
    ])
    // Sent when no other command is pending, so that it does not wait for one.
    const clock = await readClock(primaryOf(redis))
    return {
      writeRefusal,
      durabilityViolations:
        isUnreadable && !assertsDurability ? [...violations, unreadable] : violations,
      isDurabilityAsserted: isUnreadable && assertsDurability,
      ...memories.reduce((one, other) => (other.memoryUsed > one.memoryUsed ? other : one)),
      installation,
      clock,
    }
  } catch (error) {
    return { ...previous, writeRefusal: describeRefusal(error) }
  }
}

const unreadable =
  'Redis does not let its settings be read (CONFIG GET); if they are right, set REDIS_DURABILITY=asserted'

async function readMemory(
  server: Server,
): Promise<Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'>> {
  const info = await server.info('memory')
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}
