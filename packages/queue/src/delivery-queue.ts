import { Queue, UnrecoverableError, WaitingError, Worker, type Job } from 'bullmq'
import type { Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { queuePrefix } from './names.ts'

/**
 * A queue of record ids that are delivered to the outside, independently of the queues that store
 * records.
 */
interface DeliveryQueue {
  /**
   * Adds the deliveries that the queue does not know. It knows unfinished deliveries. It also knows
   * the last 20,000 that were delivered (for a day) and the last 1,000 that were given up (for a
   * week). Resolves to the number of deliveries that got no place. The queue has 10,000 places, and
   * a sender gets no more places once it holds as many as are free. So one sender alone fills at
   * most half, two fill at most a third each, and there is always room for another sender. After an
   * error any of the deliveries may be in the queue.
   */
  add(deliveries: readonly Delivery[]): Promise<number>
  /**
   * Ends deliveries in progress. They are repeated later, as if they had not started. Resolves
   * within two seconds, even if Redis does not respond; a delivery that is unfinished by then is
   * reported to `onError`, and ends when the caller closes the connection.
   */
  close(): Promise<void>
}

interface Delivery {
  id: string
  /** The id of the API key that the record came with. */
  sender: string
}

/** `deliver` rejects with this error if no later attempt can succeed. */
export class FinalDeliveryError extends Error {
  override name = 'FinalDeliveryError'
}

interface FailedDelivery {
  id: string
  attempt: number
  /** Whether this was the last attempt, or a final error: the delivery is given up. */
  isLast: boolean
  error: Error
}

const atOnce = 4
const idsMax = 10_000
const commandTimeoutMs = 5_000
/** Timeout for returning a delivery to the queue; shorter than the timeout for closing. */
const returnTimeoutMs = 1_000
const closeTimeoutMs = 2_000
const daySeconds = 24 * 60 * 60

/**
 * Delivers each id at least once. All processes that call this function share the deliveries. A
 * delivery that rejects is repeated after the next of `retryDelaysMs`, varied by up to a tenth. It
 * is given up when it fails after the last delay, or with a `FinalDeliveryError`.
 *
 * @param options.redis a connection of the role `consumer`, which the caller closes
 * @param options.deliver delivers a record, with a timeout of its own; `attempt` counts from 1.
 * After `signal` has aborted, the result of `deliver` is ignored
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
    async (job: Job, token) => {
      const { id = '', attemptsMade } = job
      try {
        const { signal } = closing
        const context = { attempt: attemptsMade + 1, signal }
        await orAbort(() => deliver(parseJobId(id).id, context), signal)
      } catch (error) {
        if (!closing.signal.aborted) {
          throw error instanceof FinalDeliveryError ? new UnrecoverableError(error.message) : error
        }
        // The job is returned to the queue, because a failure would use up one of its attempts. A
        // job that cannot be returned waits until its lock expires.
        const returned = job.moveToWait(token)
        await withTimeout(returned, returnTimeoutMs, 'returning a delivery').catch(onError)
        throw new WaitingError()
      }
    },
    {
      ...shared,
      concurrency: atOnce,
      // Unlimited, because a process that is killed repeatedly must not use up the attempts of a
      // delivery.
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
    const isLast = attempt > retryDelaysMs.length || error instanceof UnrecoverableError
    onFailed({ id: parseJobId(job.id).id, attempt, isLast, error })
  })

  const jobOptions = {
    attempts: retryDelaysMs.length + 1,
    backoff: { type: 'custom' },
    removeOnComplete: { age: daySeconds, count: 2 * idsMax },
    removeOnFail: { age: 7 * daySeconds, count: 1_000 },
  }

  return {
    async add(deliveries) {
      const known = new Set(
        await withTimeout(
          queue.getRanges(['waiting', 'active', 'delayed'], 0, -1),
          commandTimeoutMs,
          'reading deliveries',
        ),
      )
      const counts = new Map<string, number>()
      const countOf = (sender: string) => counts.get(sender) ?? 0
      const count = (sender: string) => counts.set(sender, countOf(sender) + 1)
      for (const jobId of known) count(parseJobId(jobId).sender)

      const jobs = []
      let omitted = 0
      for (const { id, sender } of deliveries) {
        const jobId = `${id}.${sender}`
        if (known.has(jobId)) continue
        if (countOf(sender) >= idsMax - known.size) {
          omitted++
          continue
        }
        known.add(jobId)
        count(sender)
        jobs.push({ name, data: {}, opts: { ...jobOptions, jobId } })
      }
      await withTimeout(queue.addBulk(jobs), commandTimeoutMs, 'adding deliveries')
      return omitted
    },

    async close() {
      closing.abort()
      // Limits the time, because BullMQ's `close` waits for Redis, and ignores `force` once closing
      // has started.
      await withTimeout(worker.close(), closeTimeoutMs, 'closing deliveries').catch(onError)
      // BullMQ's `close` would wait for a connection.
      if (redis.status === 'ready') await queue.close()
    },
  }
}

/**
 * Runs `work` and settles like it, or rejects as soon as the signal aborts. The work may continue
 * after that.
 */
async function orAbort(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  let abort = () => {}
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason as Error)
  })
  signal.addEventListener('abort', abort)
  try {
    await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * @param jobId the id of the record, a dot and the sender, so that ids can be counted by sender
 * without reading the jobs
 */
function parseJobId(jobId: string): Delivery {
  const [id = '', sender = ''] = jobId.split('.')
  return { id, sender }
}
