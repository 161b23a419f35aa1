import { createJobs, type Job, type Jobs } from './jobs.ts'
import type { Row } from './row.ts'
import { createProcess, type Part, type World } from './world.ts'

export interface Reservation {
  id: string
  content: string
}

/** Redis with the queue. Every method is one atomic command. */
export interface Redis extends Part {
  add(jobId: string, rows: readonly Row[]): 'stored' | 'refused'
  take(token: string): Job | undefined
  renew(jobIds: Iterable<string>, token: string): void
  complete(jobId: string, token: string): void
  recoverStalled(): void
  /** Resolves to the reservation of the key: the given one or an earlier one. */
  reserve(key: string, reservation: Reservation): Reservation
  /** Refuses writes that need memory, as at its memory limit. */
  setFull(full: boolean): void
  jobs(): Jobs
}

const fsyncTicks = 30

interface State {
  jobs: Jobs
  reservations: Map<string, Reservation>
}

/**
 * With `appendfsync always` a command is on disk before its reply, so a crash loses nothing.
 * With `everysec` a crash loses everything since the last fsync.
 */
export function createRedis(world: World): Redis {
  const { design, scheduler } = world
  const process = createProcess('redis')
  let state: State = { jobs: createJobs(world), reservations: new Map() }
  let disk = copy(state)
  let isFull = false

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
    setFull(full) {
      isFull = full
    },
    add: (jobId, rows) => (isFull ? 'refused' : state.jobs.add(jobId, rows)),
    take: (token) => state.jobs.take(token),
    renew: (jobIds, token) => state.jobs.renew(jobIds, token),
    complete: (jobId, token) => state.jobs.complete(jobId, token),
    recoverStalled: () => state.jobs.recoverStalled(),
    reserve(key, reservation) {
      const existing = state.reservations.get(key)
      if (existing === undefined) state.reservations.set(key, reservation)
      return existing ?? reservation
    },
    jobs: () => state.jobs,
  }
}

function copy({ jobs, reservations }: State): State {
  return { jobs: jobs.copy(), reservations: new Map(reservations) }
}
