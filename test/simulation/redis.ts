import { kinds, type RecordKind } from '@intake/contract'
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

const fsyncTicks = 30

/** The shards of the log queue. Each gets its own commands, as if it were on its own node. */
export const shards = [0, 1]

interface State {
  /** The shards' jobs, by kind. */
  jobs: Record<RecordKind, Jobs[]>
  reservations: Reservations
}

/**
 * Simulates Redis. With `appendfsync always` a command is on disk before its reply, so a crash
 * loses nothing. With `everysec` a crash loses everything since the last fsync.
 */
export function createRedis(world: World): Redis {
  const { design, scheduler } = world
  const process = createProcess('redis')
  let state: State = {
    jobs: { logs: shards.map(() => createJobs(world)), feedback: [createJobs(world)] },
    reservations: createReservations(world),
  }
  let disk = copy(state)
  let full = false

  function fsync(): void {
    disk = copy(state)
    scheduler.note('redis', 'fsync')
    planFsync()
  }

  function planFsync(): void {
    scheduler.plan({
      of: process,
      what: 'fsync',
      after: fsyncTicks,
      kind: 'background',
      run: fsync,
    })
  }

  return {
    process,
    start() {
      if (design.appendfsync === 'everysec') planFsync()
    },
    crash() {
      if (design.appendfsync === 'everysec') state = copy(disk)
    },
    jobs: (kind, shard = 0) => state.jobs[kind][shard]!,
    allJobs: (kind) => state.jobs[kind],
    reservations: () => state.reservations,
    setFull(isFull) {
      full = isFull
    },
    isFull: () => full,
  }
}

function copy({ jobs, reservations }: State): State {
  const copies = kinds.map((kind) => [kind, jobs[kind].map((one) => one.copy())] as const)
  return {
    jobs: Object.fromEntries(copies) as Record<RecordKind, Jobs[]>,
    reservations: reservations.copy(),
  }
}
