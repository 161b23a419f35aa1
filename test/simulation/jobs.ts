import type { Row } from './row.ts'
import type { World } from './world.ts'

export interface Job {
  readonly id: string
  readonly rows: readonly Row[]
  state: 'waiting' | 'active' | 'failed'
  /** The holder of the lock and when it expires. */
  token: string
  lockedUntil: number
  deliveries: number
  recoveries: number
}

/** The parts of a BullMQ queue that deliveries depend on. */
export interface Jobs {
  /** A job id that is in the queue is not added again; a completed one is. */
  add(id: string, rows: readonly Row[]): 'stored'
  take(token: string): Job | undefined
  renew(ids: Iterable<string>, token: string): void
  /** Removes the job. Without its lock the completion is an error that changes nothing. */
  complete(id: string, token: string): void
  /** Active jobs without a lock return to the front, or are failed at `maxStalledCount`. */
  recoverStalled(): void
  count(state: Job['state']): number
  copy(): Jobs
}

export const lockTicks = 120

export function createJobs(world: World, from: Iterable<Job> = []): Jobs {
  const { design, scheduler, coverage } = world
  const jobs = new Map<string, Job>()
  for (const job of from) jobs.set(job.id, { ...job })

  const isLocked = (job: Job) => scheduler.now() < job.lockedUntil
  const holds = (job: Job, token: string) =>
    job.state === 'active' && job.token === token && isLocked(job)

  return {
    add(id, rows) {
      if (!jobs.has(id)) {
        const fresh = { state: 'waiting', token: '', lockedUntil: 0 } as const
        jobs.set(id, { id, rows, ...fresh, deliveries: 0, recoveries: 0 })
      }
      return 'stored'
    },

    take(token) {
      for (const job of jobs.values()) {
        if (job.state !== 'waiting') continue
        if (job.deliveries > 0) coverage.redeliveries++
        job.state = 'active'
        job.token = token
        job.lockedUntil = scheduler.now() + lockTicks
        job.deliveries++
        scheduler.note('redis', `hands ${job.id} to ${token}`)
        return { ...job }
      }
      return undefined
    },

    renew(ids, token) {
      for (const id of ids) {
        const job = jobs.get(id)
        if (job && holds(job, token)) job.lockedUntil = scheduler.now() + lockTicks
      }
    },

    complete(id, token) {
      const job = jobs.get(id)
      const mayComplete = job !== undefined && holds(job, token)
      if (!mayComplete) {
        coverage['zombie completions']++
        scheduler.note('redis', `${id} is not held with ${token}`)
      }
      if (mayComplete || !design.lockedCompletion) jobs.delete(id)
    },

    recoverStalled() {
      for (const job of jobs.values()) {
        if (job.state !== 'active' || isLocked(job)) continue
        job.recoveries++
        job.state = job.recoveries > design.maxStalledCount ? 'failed' : 'waiting'
        scheduler.note('redis', `${job.id} had stalled and is ${job.state}`)
      }
    },

    count: (state) => [...jobs.values()].filter((job) => job.state === state).length,
    copy: () => createJobs(world, jobs.values()),
  }
}
