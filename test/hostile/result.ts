import type { Outcome } from './attack-process.ts'
import type { Facts } from './hostile-case.ts'
import type { Notice } from './innocent.ts'

export interface Result {
  id: string
  title: string
  /** Why it failed; empty: passed. */
  reasons: string[]
  seen?: Seen
  ms: number
}

/** All that a verdict is made of. */
export interface Seen {
  /** Of the innocent sender: before the attack, and from its start to two seconds after its end. */
  before: Notice
  during: Notice
  attack: Outcome
  facts: Facts | undefined
  peakMiB: number
  /** Of one processor, during the attack. */
  cpuShare: number
  /** The share of that time in which it waited for a processor. */
  waitShare: number
  /** Processes of this machine that wanted to run, on average over the last minute. */
  load: number
  /** How long after its start the attack's connections were gone; null: they were not. */
  connectionsEndMs: number | null
  /** Of an innocent event, after its acknowledgement; only where a case judges it. */
  visibleMs?: number
  died: boolean
  /** Of SIGTERM; null: it had to be killed. */
  exitCode: number | null
  exitMs: number
  /** What the checker of the fault suites has found. */
  violations: string[]
}
