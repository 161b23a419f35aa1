import type { Cluster, ClusterOptions } from './kit/cluster.ts'
import type { Producer } from './kit/producer.ts'
import type { History } from './kit/history.ts'
import type { Payload } from './kit/payload.ts'

/** One fault at one moment, and what must hold beyond "conserved", which is always checked. */
export interface Scenario {
  /** As in the fault matrix, with a letter where one row needs several. */
  id: string
  title: string
  cluster?: Partial<Omit<ClusterOptions, 'dataDir' | 'root' | 'random'>>
  /** Default: 150 records a second, one of 25 feedback, one of 4 keyed. */
  load?: { rate?: number; feedbackEvery?: number; keyedEvery?: number }
  /** No answer is expected within its deadline, because the gateway itself is frozen. */
  lateAnswers?: boolean
  /** How much later an answer may be because of the network, in milliseconds; default 0. */
  networkMs?: number
  /** Whoever gets no answer must not have been stored: no process is killed here. */
  everyStoredIsAnswered?: boolean
  /** How long the backlog may stay as large as it is while it drains. */
  drainStallMs?: number
  /** Why it cannot run on this machine. */
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
  /** Of the built code. */
  root: string
  /** Resolves when this many more records have been issued. */
  issued(more: number): Promise<void>
  /** Resolves when this many more records have been acknowledged. */
  acknowledged(more: number): Promise<void>
  /** A condition beyond conservation. */
  expect(holds: boolean, sentence: string): void
  /** Told by a scenario that has seen an insert which was stored in part. */
  sawPartialInsert(): void
  /** Frames that are meant to stay in the queue. */
  keeps(frames: number): void
  /** Runs when the scenario ends, before the services do. */
  later(work: () => Promise<unknown>): void
}
