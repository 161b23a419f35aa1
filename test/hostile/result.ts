import type { AttackResult } from './attack-process.ts'
import type { Facts } from './hostile-case.ts'
import type { Notice } from './innocent.ts'

export interface Result {
  id: string
  title: string
  /** The reasons why the case failed; empty if it passed. */
  reasons: string[]
  seen?: Seen
  ms: number
}

/** The data that a result is based on. */
export interface Seen {
  /**
   * `before` has the responses that the innocent sender got before the attack. `during` has those
   * from the start of the attack until the innocent sender stopped, shortly after the attack.
   */
  before: Notice
  during: Notice
  attack: AttackResult
  facts: Facts | undefined
  peakMiB: number
  /** Share of one CPU that the gateway used during the attack. */
  cpuShare: number
  /** Share of the attack's time in which the gateway waited for a CPU. */
  waitShare: number
  /** Load average of the machine over the last minute. */
  load: number
  /**
   * How long after the start of the attack its connections were closed; null if they were not
   * closed in time, or if the case does not check it.
   */
  connectionsEndMs: number | null
  /**
   * The longest time from the acknowledgement of an event of the innocent sender until the event
   * was visible, in milliseconds. Undefined if the case does not check it.
   */
  visibleMs?: number
  died: boolean
  /** The exit code after SIGTERM; null if the process had died or had to be killed. */
  exitCode: number | null
  exitMs: number
  /** Violations that the checker of the fault suites found. */
  violations: string[]
}
