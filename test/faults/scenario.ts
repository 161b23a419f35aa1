import type { Cluster, ClusterOptions } from './kit/cluster.ts'
import type { Producer } from './kit/producer.ts'
import type { History } from './kit/history.ts'
import type { Payload } from './kit/payload.ts'

/**
 * A fault at a given moment, and the conditions that must hold. In addition, every scenario checks
 * that no record is lost or doubled.
 */
export interface Scenario {
  /**
   * A letter for the suite (`F`: faults, `U`: upgrade) and a number. Scenarios with the same number
   * have similar faults; they differ in a second letter after the number.
   */
  id: string
  title: string
  cluster?: Partial<Omit<ClusterOptions, 'dataDir' | 'random'>>
  /**
   * The load of the producer. By default it sends 150 records a second: one in 25 is feedback, and
   * one log in 4 has an idempotency key or an id.
   */
  load?: { rate?: number; feedbackEvery?: number; keyedEvery?: number }
  /** If true, response times are not checked. For scenarios that freeze the gateway itself. */
  lateAnswers?: boolean
  /** The time that the network adds to each response, in milliseconds; default 0. */
  networkMs?: number
  /**
   * If true, every stored record must have been acknowledged. For scenarios that kill no process.
   */
  everyStoredIsAnswered?: boolean
  /**
   * Set if the scenario rewrites or deletes stored rows. The rows are then not compared with the
   * outcomes and watermarks.
   */
  rewritesRows?: boolean
  /**
   * Returns whether a rule may leave out this record. Used by scenarios that change rules. Every
   * record that a rule leaves out must be counted.
   */
  mayBeLeftOut?: (record: Payload) => boolean
  /** How long the backlog may go without shrinking while it drains. */
  drainStallMs?: number
  /** Returns the reason if the scenario cannot run on this machine. */
  cannotRun?: () => Promise<string | undefined>
  run(stage: Stage): Promise<void>
}

export interface Stage {
  cluster: Cluster
  producer: Producer
  history: History
  payload: (seq: number) => Payload
  random: () => number
  /** The data directory of this run. */
  dir: string
  /** Root of the built code. */
  root: string
  /** Resolves when this many more records have been issued. */
  issued(more: number): Promise<void>
  /** Resolves when this many more records have been acknowledged. */
  acknowledged(more: number): Promise<void>
  /** Checks a condition of this scenario. (That no record is lost or doubled is always checked.) */
  expect(holds: boolean, sentence: string): void
  /** Checks that every request so far was acknowledged. */
  expectNoFailure(): void
  /** Must be called when an insert was stored only in part. */
  sawPartialInsert(): void
  /** Declares that this many frames are meant to stay in the queue at the end. */
  keeps(frames: number): void
  /** Runs `work` at the end of the scenario, before the services stop. */
  later(work: () => Promise<unknown>): void
}
