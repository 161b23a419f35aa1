import { readClock, type ClockReading } from './clock.ts'
import type { Redis, Server } from './connect.ts'
import type { Durability } from './durability/durability.ts'
import { infoField } from './replies.ts'
import { readInstallation } from './installation.ts'
import { mainTag, primariesOf, type Primary } from './servers.ts'
import { describeRefusalOf, findWriteRefusal } from './write-refusal.ts'

/** Why nothing may be written while `RedisState.installation` is null. */
export const lostItsData = 'Redis is new or has lost its data'

/** The state of a server, or the combined state of a cluster's servers (see `worstOf`). */
export interface RedisState {
  /** Why the server accepts no writes, in words for an operator; undefined if it accepts them. */
  writeRefusal: string | undefined
  /** Why the server could lose what it has confirmed, in words for an operator. */
  durabilityViolations: string[]
  /** Whether Redis hides its settings and the operator asserts that they are correct. */
  isDurabilityAsserted: boolean
  /** Memory used, as a share of `memoryBytesMax`, from 0 to 1. */
  memoryUsed: number
  /** `maxmemory` of the fullest server. If it is not set, the memory of the server's machine. */
  memoryBytesMax: number
  /** `host:port` of the fullest server; undefined if there is only one server. */
  fullestServer: string | undefined
  /** The installation that this Redis belongs to; null if it is new or has lost its data. */
  installation: string | null
  /** The clock of Redis; undefined until Redis has returned its time. */
  clock: ClockReading | undefined
}

/** The values besides `writeRefusal` while every poll so far has been refused by the server. */
const unknown: Omit<RedisState, 'writeRefusal'> = {
  durabilityViolations: [],
  isDurabilityAsserted: false,
  memoryUsed: 0,
  memoryBytesMax: Infinity,
  fullestServer: undefined,
  installation: null,
  clock: undefined,
}

export interface StateOptions {
  replicasMin: number
  /** Whether the operator asserts that settings that cannot be read are correct. */
  assertsDurability: boolean
}

/**
 * Reads the server of `tag`. If it refuses writes or a read, all but `writeRefusal` is that of
 * `previous`. Only the server of `{intake}` is asked for the installation and the time.
 *
 * @throws when the server does not respond
 */
export async function readState(
  redis: Redis,
  options: StateOptions & {
    tag: string
    previous: RedisState | undefined
    readDurability: (primary: Primary) => Promise<Durability>
  },
): Promise<RedisState> {
  const { tag, previous = unknown, readDurability, assertsDurability, replicasMin } = options
  const isMain = tag === mainTag
  try {
    const writeRefusal = await findWriteRefusal(redis, { tags: [tag], replicasMin })
    // If the server is a replica, its connection is being closed, so nothing more can be read.
    if (writeRefusal !== undefined) return { ...previous, writeRefusal }
    const [primary] = primariesOf(redis, [tag]) as [Primary]
    const { violations, isUnreadable } = await readDurability(primary)
    const [memory, installation] = await Promise.all([
      readMemory(primary.redis),
      isMain ? readInstallation(redis) : null,
    ])
    // No other command is pending, so that the round trip is as short as possible.
    const clock = isMain ? await readClock(primary.redis) : undefined
    return {
      writeRefusal,
      durabilityViolations:
        isUnreadable && !assertsDurability ? [...violations, unreadable] : violations,
      isDurabilityAsserted: isUnreadable && assertsDurability,
      ...memory,
      fullestServer: primary.name,
      installation,
      clock,
    }
  } catch (error) {
    return { ...previous, writeRefusal: describeRefusalOf(redis, tag, error) }
  }
}

/**
 * Write refusal, installation and clock are those of the first server, the memory that of the
 * fullest one, the violations of durability those of all.
 */
export function worstOf(states: readonly [RedisState, ...RedisState[]]): RedisState {
  const { writeRefusal, installation, clock } = states[0]
  const { memoryUsed, memoryBytesMax, fullestServer } = states.reduce((one, other) =>
    other.memoryUsed > one.memoryUsed ? other : one,
  )
  return {
    writeRefusal,
    durabilityViolations: [...new Set(states.flatMap((state) => state.durabilityViolations))],
    isDurabilityAsserted: states.some(({ isDurabilityAsserted }) => isDurabilityAsserted),
    memoryUsed,
    memoryBytesMax,
    fullestServer,
    installation,
    clock,
  }
}

const unreadable =
  'Redis hides its settings (CONFIG GET); if they are correct, set REDIS_DURABILITY=asserted'

async function readMemory(
  server: Server,
): Promise<Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'>> {
  const info = await server.info('memory')
  const field = (name: string) => Number(infoField(info, name) ?? 0)
  const memoryBytesMax = field('maxmemory') || field('total_system_memory') || Infinity
  return { memoryUsed: field('used_memory') / memoryBytesMax, memoryBytesMax }
}

export interface RedisPoll {
  /**
   * In a cluster that of all usable servers (`worstOf`). While the server of `{intake}` does not
   * respond, its last known state is used; undefined until it has responded once.
   */
  state(): RedisState | undefined
  /**
   * Reads the state now. In a cluster does not wait for servers besides that of `{intake}`.
   *
   * @throws when the server of `{intake}` does not respond
   */
  refresh(): Promise<void>
  /** Since the last response of the server of `{intake}`; `Infinity` before the first. */
  silentMs(): number
  /**
   * `host:port` and the reason for each server besides that of `{intake}` that refuses writes or
   * has not responded for five seconds.
   */
  unusableServers(): string[]
  /** Why nothing may be written to the server of a hash tag: it is unusable or has lost its data. */
  refusalOf(tag: string): string | undefined
  close(): void
}

export interface PollOptions extends Partial<StateOptions> {
  /** The servers that hold keys of these hash tags are polled, too. */
  tags?: readonly string[]
  intervalMs: number
  onError: (error: unknown) => void
}
