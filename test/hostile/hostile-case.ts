/** The interface that an attack uses. The attack runs in its own process. */
export interface Attacker {
  port: number
  /** A valid key, but not the innocent sender's. */
  apiKey: string
  /**
   * Aborted at the end of the attack. The connections of the attack stay open until the gateway has
   * been ended with SIGTERM.
   */
  signal: AbortSignal
}

/** The result of an attack. `sent` counts its requests or connections. */
export type Facts = { sent: number } & Record<string, number>

export type Expect = (holds: boolean, sentence: string) => void

/**
 * An attack and the conditions that must hold. In addition, every case checks that the innocent
 * sender is not affected.
 */
export interface HostileCase<Seen extends Facts = Facts> {
  /** A letter for the kind of attack (README.md) and a number. */
  id: string
  /** A description of what the attack sends. */
  title: string
  /** How long new requests are sent, in milliseconds; default 10,000. */
  attackMs?: number
  /** The minimum of `sent`. With less, the case proves nothing. Default: 4. */
  sentMin?: number
  /** The limit for the gateway's peak memory. Default: 900. */
  memoryMiBMax?: number
  /**
   * The time, from the start of the attack, within which the gateway must close the attack's
   * connections.
   */
  connectionsEndMs?: number
  /**
   * An event of the innocent sender must be visible to analysts at most this long after its
   * acknowledgement.
   */
  visibleMsMax?: number
  /** If true, ClickHouse is frozen during the attack, so that a backlog builds up. */
  whileClickHouseIsFrozen?: boolean
  gatewayEnv?: Record<string, string>
  /**
   * Runs the attack until it is complete or `signal` is aborted. Resolves when no request of the
   * attack is pending.
   */
  attack(attacker: Attacker): Promise<Seen>
  judge?(seen: Seen, expect: Expect): void
}

/** Lets TypeScript infer the type of the facts from `attack`, so that `judge` knows it. */
export function hostileCase<Seen extends Facts>(definition: HostileCase<Seen>): HostileCase {
  return definition
}
