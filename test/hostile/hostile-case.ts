/** What an attack has at hand. It runs in a process of its own. */
export interface Attacker {
  port: number
  /** A valid key, but not the innocent sender's. */
  apiKey: string
  /** Aborted when the attack is over. Connections that are open then stay open until SIGTERM was tried. */
  signal: AbortSignal
}

/** What an attack did and saw. `sent` counts its requests or connections. */
export type Facts = { sent: number } & Record<string, number>

export type Expect = (holds: boolean, sentence: string) => void

/** One way to hurt the others, and what must hold beyond "the innocent sender notices nothing". */
export interface HostileCase<Seen extends Facts = Facts> {
  /** A letter for the kind of attack (README.md) and a number. */
  id: string
  /** What was sent. */
  title: string
  /** Also part of `npm test`, with a shorter attack. */
  quick?: boolean
  /** How long new requests are sent; default 10,000. */
  attackMs?: number
  /** With less `sent` than this there was no attack, and the case proves nothing; default 4. */
  sentMin?: number
  /** Default 900. */
  memoryMiBMax?: number
  /** The gateway must have closed the connections of the attack this long after its start. */
  connectionsEndMs?: number
  /** An event of the innocent sender must be visible to analysts this long after its acknowledgement. */
  visibleMsMax?: number
  /** ClickHouse is frozen during the attack, so what is sent becomes a backlog. */
  whileClickHouseIsFrozen?: boolean
  gatewayEnv?: Record<string, string>
  /** What the sender does before the time of the attack starts. */
  prepare?(attacker: Omit<Attacker, 'signal'>): Promise<void>
  /** Resolves when `signal` is aborted and what is under way has ended, or earlier. */
  attack(attacker: Attacker): Promise<Seen>
  judge?(seen: Seen, expect: Expect): void
}

/** Lets `judge` name the facts of its own `attack`. */
export function hostileCase<Seen extends Facts>(definition: HostileCase<Seen>): HostileCase {
  return definition
}
