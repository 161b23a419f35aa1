import type { World } from './world.ts'

export interface Job {
  readonly id: string
  readonly data: unknown
  state: 'waiting' | 'active' | 'delayed'
  /** The lock: the token of its holder, and the tick at which it expires. */
  token: string
  lockedUntil: number
  /** When a delayed job may be handed out again. */
  dueAt: number
  deliveries: number
}

/** The functions of a BullMQ queue that affect deliveries. Every method is one atomic command. */
export interface Jobs {
  /**
   * Adds a job, unless a job with this id is in the queue. The id of a completed job can be added
   * again.
   */
  add(id: string, data: unknown): void
  oldest(): string | undefined
  claim(token: string): Job | undefined
  /** Renews the locks of these jobs. Returns the ids whose lock this token does not hold. */
  renew(ids: Iterable<string>, token: string): string[]
  /**
   * Removes the job.
   *
   * @throws {Error} if the token does not hold the job's lock; the job is then not changed
   */
  complete(id: string, token: string): void
  /**
   * Makes the job available again after `ticks`, at the back of the queue.
   *
   * @throws {Error} like `complete`
   */
  postpone(id: string, token: string, ticks: number): void
  /**
   * Returns the job to the front of the queue.
   *
   * @throws {Error} like `complete`
   */
  release(id: string, token: string): void
  /** Returns each active job without a lock to the front of the queue. */
  recoverStalled(): void
  count(state: Job['state']): number
  ids(state: Job['state']): string[]
}

const lockTicks = 150

export function createJobs({ scheduler, coverage }: World): Jobs {
  const jobs = new Map<string, Job>()
  /** Ids in the order in which they are handed out. */
  const order: string[] = []

  const isLocked = (job: Job) => scheduler.now() < job.lockedUntil
  const holds = (job: Job, token: string) =>
    job.state === 'active' && job.token === token && isLocked(job)

  const idsIn = (state: Job['state']) =>
    [...jobs.values()].filter((job) => job.state === state).map(({ id }) => id)

  function enqueue(job: Job, where: 'front' | 'back'): void {
    job.state = 'waiting'
    if (where === 'front') order.unshift(job.id)
    else order.push(job.id)
  }

  function promoteDelayed(): void {
    for (const job of jobs.values()) {
      if (job.state === 'delayed' && job.dueAt <= scheduler.now()) enqueue(job, 'back')
    }
  }

  function lockedJob(id: string, token: string): Job {
    const job = jobs.get(id)
    if (job !== undefined && holds(job, token)) return job
    coverage['zombie completions']++
    scheduler.note('redis', `${id} is not held with ${token}`)
    throw new Error(`the lock of ${id} is lost`)
  }

  return {
    add(id, data) {
      if (jobs.has(id)) return
      const fresh = { token: '', lockedUntil: 0, dueAt: 0, deliveries: 0 }
      const job: Job = { id, data, state: 'waiting', ...fresh }
      jobs.set(id, job)
      enqueue(job, 'back')
    },

    oldest: () => order[0],

    claim(token) {
      promoteDelayed()
      const id = order.shift()
      const job = id === undefined ? undefined : jobs.get(id)
      if (job === undefined) return undefined
      if (job.deliveries > 0) coverage.redeliveries++
      job.state = 'active'
      job.token = token
      job.lockedUntil = scheduler.now() + lockTicks
      job.deliveries++
      scheduler.note('redis', `hands ${job.id} to ${token}`)
      return { ...job }
    },

    renew(ids, token) {
      const lost: string[] = []
      for (const id of ids) {
        const job = jobs.get(id)
        if (job && holds(job, token)) job.lockedUntil = scheduler.now() + lockTicks
        else lost.push(id)
      }
      return lost
    },

    complete(id, token) {
      jobs.delete(lockedJob(id, token).id)
    },

    postpone(id, token, ticks) {
      const job = lockedJob(id, token)
      job.state = 'delayed'
      job.dueAt = scheduler.now() + ticks
    },

    release(id, token) {
      enqueue(lockedJob(id, token), 'front')
    },

    recoverStalled() {
      for (const job of jobs.values()) {
        if (job.state !== 'active' || isLocked(job)) continue
        enqueue(job, 'front')
        scheduler.note('redis', `${job.id} had stalled`)
      }
    },

    count: (state) => idsIn(state).length,
    ids: idsIn,
  }
}
