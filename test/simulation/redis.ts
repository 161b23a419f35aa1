import type { RecordKind } from '@intake/contract'
import { createJobs, type Jobs } from './jobs.ts'
import { createReservations, type Reservations } from './reservations.ts'
import { createProcess, type Part, type World } from './world.ts'

/** Redis with the queues and the reservations. */
export interface Redis extends Part {
  /**
   * The jobs of one queue.
   *
   * @param shard number of the shard of the log queue; default: 0
   */
  jobs(kind: RecordKind, shard?: number): Jobs
  /** The jobs of all shards. */
  allJobs(kind: RecordKind): readonly Jobs[]
  reservations(): Reservations
  /** Makes Redis refuse writes that need memory, as it does at its memory limit. */
  setFull(full: boolean): void
  isFull(): boolean
}

/** The shards of the log queue. Each gets its own commands, as if it were on its own node. */
export const shards = [0, 1]

/**
 * Simulates Redis. A command is on disk before its reply (`appendfsync always`), so a crash loses
 * nothing.
 */
export function createRedis(world: World): Redis {
  const jobs: Record<RecordKind, Jobs[]> = {
    logs: shards.map(() => createJobs(world)),
    feedback: [createJobs(world)],
  }
  const reservations = createReservations(world)
  let full = false

  return {
    process: createProcess('redis'),
    start() {},
    jobs: (kind, shard = 0) => jobs[kind][shard]!,
    allJobs: (kind) => jobs[kind],
    reservations: () => reservations,
    setFull(isFull) {
      full = isFull
    },
    isFull: () => full,
  }
}
