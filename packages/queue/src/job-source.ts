import { Job, Worker } from 'bullmq'
import type { Redis } from '@intake/redis'
import { queueNames, queueSettings, type QueueName } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

/** No other consumer gets it while its lock is renewed. Only its own source takes it back. */
export interface ClaimedJob {
  id: string
  data: unknown
  /** Counts this time, too; an estimate after a restart of Redis. */
  attempts: number
}

/** The jobs that can be claimed. A paused queue has none. */
export interface Waiting {
  count: number
  /** Id of the job that has waited the longest. */
  oldest: string | undefined
}

/** One queue. A command rejects when Redis refuses it, and waits while Redis is unavailable. */
export interface JobSource {
  peek(): Promise<Waiting>
  /** Whether there are postponed jobs; one whose delay has passed is one until `claim`. */
  hasPostponed(): Promise<boolean>
  /** Claims the oldest job; undefined when there is none. */
  claim(): Promise<ClaimedJob | undefined>
  /**
   * Removes a job permanently.
   *
   * @param options.claimNext also claims the oldest waiting job, in the same round trip, and
   * returns it
   */
  complete(job: ClaimedJob, options: { claimNext: boolean }): Promise<ClaimedJob | undefined>
  /** Makes a job available again, no earlier than after `ms`. */
  postpone(job: ClaimedJob, ms: number): Promise<void>
  /** Returns a job to the queue, where it becomes the oldest job again. */
  release(job: ClaimedJob): Promise<void>
  /** Renews the locks. Returns the ids of the jobs that another worker may also have. */
  renew(jobs: readonly ClaimedJob[]): Promise<string[]>
  /** Closes the queue. Claimed jobs remain locked until their locks expire. */
  close(): Promise<void>
}

/**
 * A job of a killed worker is redelivered after at most 30 seconds: its lock expires, then come up
 * to two checks for expired locks.
 */
const lockMs = 15_000
const stalledIntervalMs = 7_500

/** Opens a queue or shard for BullMQ's manual processing, on the caller's connection. */
export function createJobSource(options: {
  redis: Redis
  kind: QueueName
  shard?: number | undefined
  onError: (error: Error) => void
}): JobSource {
  const { redis, kind, shard = 0, onError } = options
  const prefix = shardPrefix(shard)
  const worker = new Worker(queueNames[kind], null, {
    connection: redis,
    prefix,
    lockDuration: lockMs,
    stalledInterval: stalledIntervalMs,
    maxStalledCount: Number.MAX_SAFE_INTEGER,
  })
  worker.on('error', onError)
  void worker.startStalledCheckTimer()

  /** BullMQ's getters would read whole jobs. test/conformance/jobs.test.ts checks the names. */
  const key = (list: string) => `${prefix}:${queueNames[kind]}:${list}`
  let claims = 0
  /** Each claim has its own token: a redelivered job cannot be completed by its former claim. */
  const createToken = () => `${worker.id}:${++claims}`

  return {
    peek: () => peek(redis, key),

    hasPostponed: async () => (await redis.zcard(key('delayed'))) > 0,

    async claim() {
      const token = createToken()
      return handleOf(await worker.getNextJob(token, { block: false }), token)
    },

    async complete(handle, { claimNext }) {
      const { job, token } = handle as Handle
      const next = await job.moveToCompleted(undefined, token, claimNext)
      if (!Array.isArray(next) || !next[0]) return undefined
      const [data, id] = next
      return handleOf(Job.fromJSON(worker, data, id), token)
    },

    async postpone(handle, ms) {
      const { job, token } = handle as Handle
      await job.moveToDelayed(Date.now() + ms, token)
    },

    async release(handle) {
      const { job, token } = handle as Handle
      await job.moveToWait(token)
    },

    renew(handles) {
      const ids = handles.map(({ id }) => id)
      const tokens = handles.map((handle) => (handle as Handle).token)
      return worker.extendJobLocks(ids, tokens, lockMs)
    },

    close: () => worker.close(true),
  }
}

async function peek(redis: Redis, key: (list: string) => string): Promise<Waiting> {
  const count = await redis.llen(key('wait'))
  // An empty queue is the usual case, and needs no further commands.
  if (count === 0) return { count, oldest: undefined }
  const [[oldest], isPaused] = await Promise.all([
    redis.lrange(key('wait'), -1, -1),
    redis.hexists(key(queueSettings), 'paused'),
  ])
  return isPaused === 1 ? { count: 0, oldest: undefined } : { count, oldest }
}

interface Handle extends ClaimedJob {
  job: Job
  token: string
}

function handleOf(job: Job | undefined | void, token: string): Handle | undefined {
  if (job?.id === undefined) return undefined
  const { id, data, attemptsStarted: attempts } = job
  // The owner of the handle drops its data early; BullMQ's job must not keep the data in memory.
  job.data = undefined
  return { id, data, attempts, job, token }
}
