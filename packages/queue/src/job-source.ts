import { Job, Worker } from 'bullmq'
import { queueNames, queuePrefix, type RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'

/** A job in hand: nobody else gets it while its lock is renewed. */
export interface ClaimedJob {
  id: string
  data: unknown
  /** How often it has been handed out, this time included; an estimate after a restart of Redis. */
  attempts: number
}

/** Jobs that nobody has claimed. */
export interface Waiting {
  count: number
  /** Id of the job that has waited longest. */
  oldest: string | undefined
}

export interface Backlog {
  waiting: number
  /** In hand, or left behind by a worker that died and not handed out again yet. */
  active: number
  /** Put off: unreadable for this version, or rows that cannot be stored now. */
  delayed: number
}

/** One queue. A command rejects when Redis refuses it; while Redis is away it waits. */
export interface JobSource {
  peek(): Promise<Waiting>
  /** Claims the oldest job; undefined when there is none. */
  claim(): Promise<ClaimedJob | undefined>
  /**
   * Takes a job out of the queue for good.
   *
   * @param options.claimNext claims the oldest job in the same round trip
   */
  complete(job: ClaimedJob, options: { claimNext: boolean }): Promise<ClaimedJob | undefined>
  /** Hands a job out again, after that time at the earliest. */
  postpone(job: ClaimedJob, ms: number): Promise<void>
  /** Gives a job back as the oldest one. */
  release(job: ClaimedJob): Promise<void>
  /** Renews the locks and returns the ids of the jobs that another worker may have. */
  renew(jobs: readonly ClaimedJob[]): Promise<string[]>
  backlog(): Promise<Backlog>
  /** Jobs in hand stay locked until their locks end. */
  close(): Promise<void>
}

/** A job of a killed worker is handed out again after at most 15 + 2 × 7.5 seconds. */
const lockMs = 15_000
const stalledIntervalMs = 7_500

/**
 * A queue in Redis, through BullMQ's functions for processing jobs manually. The connection stays the
 * caller's.
 */
export function createJobSource(options: {
  redis: Redis
  kind: RecordKind
  onError: (error: Error) => void
}): JobSource {
  const { redis, kind, onError } = options
  const worker = new Worker(queueNames[kind], null, {
    connection: redis,
    prefix: queuePrefix,
    lockDuration: lockMs,
    stalledInterval: stalledIntervalMs,
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  })
  worker.on('error', onError)
  void worker.startStalledCheckTimer()

  const key = (list: string) => `${queuePrefix}:${queueNames[kind]}:${list}`
  const jobs = new WeakMap<ClaimedJob, { job: Job; token: string }>()
  let claims = 0
  /** One for each claim: a job that comes again must not be completed by its former claim. */
  const createToken = () => `${worker.id}:${++claims}`

  function claimed(job: Job | undefined, token: string): ClaimedJob | undefined {
    if (job?.id === undefined) return undefined
    const { id, data, attemptsStarted: attempts } = job
    const handle: ClaimedJob = { id, data, attempts }
    // The handle has the data now, and its owner drops it before the job is completed.
    job.data = undefined
    jobs.set(handle, { job, token })
    return handle
  }

  function held(handle: ClaimedJob): { job: Job; token: string } {
    const entry = jobs.get(handle)
    if (entry === undefined) throw new TypeError('the job was claimed from another queue')
    return entry
  }

  return {
    async peek() {
      const [count, [oldest]] = await Promise.all([
        redis.llen(key('wait')),
        redis.lrange(key('wait'), -1, -1),
      ])
      return { count, oldest }
    },

    async claim() {
      const token = createToken()
      const job = await worker.getNextJob(token, { block: false })
      return claimed(job as Job | undefined, token)
    },

    async complete(handle, { claimNext }) {
      const { job, token } = held(handle)
      const next = await job.moveToCompleted(undefined, token, claimNext)
      if (!Array.isArray(next) || !next[0]) return undefined
      const [data, id] = next
      return claimed(Job.fromJSON(worker, data, id), token)
    },

    async postpone(handle, ms) {
      const { job, token } = held(handle)
      await job.moveToDelayed(Date.now() + ms, token)
    },

    async release(handle) {
      const { job, token } = held(handle)
      await job.moveToWait(token)
    },

    renew(handles) {
      const entries = handles.map((handle) => held(handle))
      const ids = handles.map(({ id }) => id)
      return worker.extendJobLocks(
        ids,
        entries.map(({ token }) => token),
        lockMs,
      )
    },

    async backlog() {
      const [waiting, active, delayed] = await Promise.all([
        redis.llen(key('wait')),
        redis.llen(key('active')),
        redis.zcard(key('delayed')),
      ])
      return { waiting, active, delayed }
    },

    close: () => worker.close(true),
  }
}
