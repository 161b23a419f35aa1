import { Queue, Worker, type Job } from 'bullmq'
import type { Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { queuePrefix } from './names.ts'

/** Ids of records that somebody outside is told about, apart from the way of the records. */
export interface DeliveryQueue {
  /**
   * Adds the ids that the queue does not know; it knows an id until a day after its delivery. Resolves to
   * the number of ids for which it had no room. After an error any of them may be in the queue.
   */
  add(ids: readonly string[]): Promise<number>
  /** Ids that are to be delivered. */
  size(): Promise<number>
  /** Ends deliveries in progress; they are repeated later. */
  close(): Promise<void>
}

/** One delivery that failed. */
export interface FailedDelivery {
  id: string
  attempt: number
  /** It will not be repeated. */
  isLast: boolean
  error: Error
}

const atOnce = 4
const idsMax = 10_000
const commandTimeoutMs = 5_000
const closeTimeoutMs = 2_000
const daySeconds = 24 * 60 * 60

/**
 * Delivers each id at least once, by any of the processes that run this. A delivery that rejects is repeated
 * after the next of the delays, each varied by up to a tenth; after the last it is given up.
 *
 * @param options.redis of the role `consumer`; it belongs to the caller
 * @param options.deliver has a timeout of its own; `attempt` counts from 1
 */
export function startDeliveryQueue(options: {
  redis: Redis
  name: string
  deliver: (id: string, context: { attempt: number; signal: AbortSignal }) => Promise<void>
  retryDelaysMs: readonly number[]
  onFailed: (failure: FailedDelivery) => void
  onError: (error: Error) => void
}): DeliveryQueue {
  const { redis, name, deliver, retryDelaysMs, onFailed, onError } = options
  const shared = { connection: redis, prefix: queuePrefix }
  const closing = new AbortController()
  const queue = new Queue(name, shared)
  const worker = new Worker(
    name,
    async (job: Job) => {
      const { id = '', attemptsMade } = job
      await deliver(id, { attempt: attemptsMade + 1, signal: closing.signal })
    },
    {
      ...shared,
      concurrency: atOnce,
      // A process that is killed again and again must not exhaust the deliveries.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: {
        backoffStrategy: (attemptsMade) =>
          (retryDelaysMs[attemptsMade - 1] ?? 0) * (0.9 + Math.random() / 5),
      },
    },
  )
  queue.on('error', onError)
  worker.on('error', onError)
  worker.on('failed', (job, error) => {
    if (job?.id === undefined) return
    const attempt = job.attemptsMade
    onFailed({ id: job.id, attempt, isLast: attempt > retryDelaysMs.length, error })
  })

  const jobOptions = {
    attempts: retryDelaysMs.length + 1,
    backoff: { type: 'custom' },
    removeOnComplete: { age: daySeconds, count: 2 * idsMax },
    removeOnFail: { age: 7 * daySeconds, count: 1_000 },
  }
  const size = () =>
    withTimeout(
      queue.getJobCountByTypes('waiting', 'active', 'delayed'),
      commandTimeoutMs,
      'counting deliveries',
    )

  return {
    async add(ids) {
      const room = Math.max(0, idsMax - (await size()))
      const jobs = ids
        .slice(0, room)
        .map((id) => ({ name, data: {}, opts: { ...jobOptions, jobId: id } }))
      await withTimeout(queue.addBulk(jobs), commandTimeoutMs, 'adding deliveries')
      return ids.length - jobs.length
    },

    size,

    async close() {
      closing.abort()
      await withTimeout(worker.close(), closeTimeoutMs, 'closing deliveries').catch(() =>
        worker.close(true),
      )
      // BullMQ waits for the connection.
      if (redis.status === 'ready') await queue.close()
    },
  }
}
