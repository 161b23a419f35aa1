import type { ClockReading } from './clock.ts'

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

export interface PollOptions {
  replicasMin?: number
  /** Whether the operator asserts that settings that cannot be read are correct. */
  assertsDurability?: boolean
  /** The servers that hold keys of these hash tags are polled, too. */
  tags?: readonly string[]
  intervalMs: number
  onError: (error: unknown) => void
}
