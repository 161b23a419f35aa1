import { setMaxListeners } from 'node:events'
import { DelayedError, UnrecoverableError, WaitingError, Worker, type Job } from 'bullmq'
import { readInstallation, whileConnected, type Redis } from '@intake/redis'
import { orAbort, startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { queuePrefix } from './names.ts'

/** Record ids that are delivered to the outside, apart from the queues that store records. */
export interface DeliveryQueue {
  name: string
  retryDelaysMs: readonly number[]
}

export const attemptsOf = ({ retryDelaysMs }: DeliveryQueue) => retryDelaysMs.length + 1

/** BullMQ's own data about a queue. While it exists, deliveries are added. */
export const deliveryMark = (name: string) => `${queuePrefix}:${name}:meta`

/** `deliver` rejects with this error if no later attempt can succeed. */
export class FinalDeliveryError extends Error {
  override name = 'FinalDeliveryError'
}

/** `deliver` rejects with this error if the delivery must wait for its turn. It is no attempt. */
export class PostponedDelivery extends Error {
  override name = 'PostponedDelivery'
}

interface FailedDelivery {
  id: string
  attempt: number
  /** Whether this was the last attempt, or a final error: the delivery is given up. */
  isLast: boolean
  error: Error
}

/** Timeout for returning or postponing a delivery; shorter than the timeout for closing. */
const returnTimeoutMs = 1_000
const closeTimeoutMs = 2_000
const postponeMinMs = 1_000
const postponeMaxMs = 5 * 60_000
const markIntervalMs = 10_000
const markTimeoutMs = 5_000

/**
 * Delivers each id of the queue at least once, shared by all processes that call this. A delivery
 * that rejects is repeated after the next of `retryDelaysMs`, varied by up to a tenth, and given up
 * after the last or with a `FinalDeliveryError`.
 *
 * @param options.redis a connection of the role `consumer`, which the caller closes
 * @param options.atOnce how many deliveries may be in progress in this process
 * @param options.deliver has a timeout of its own. Its result is ignored after `signal` has aborted
 * @returns `close` returns deliveries in progress to the queue, as if they had not started. It
 * resolves within two seconds, even if Redis does not respond, which is reported to `onError`
 */
export function startDeliveries(options: {
  redis: Redis
  queue: DeliveryQueue
  atOnce: number
  deliver: (id: string, context: { sender: string; signal: AbortSignal }) => Promise<void>
  onFailed: (failure: FailedDelivery) => void
  onError: (error: Error) => void
}): { close(): Promise<void> } {
  const { redis, atOnce, deliver, onFailed, onError } = options
  const { name, retryDelaysMs } = options.queue
  const shared = { connection: redis, prefix: queuePrefix }
  const closing = new AbortController()
  // Each delivery in progress listens: Node would warn of a leak from the eleventh on.
  setMaxListeners(0, closing.signal)
  const worker = new Worker(
    name,
    async (job: Job, token) => {
      try {
        const { signal } = closing
        const { id, sender } = parseJobId(job.id ?? '')
        await orAbort(() => deliver(id, { sender, signal }), signal)
      } catch (error) {
        if (!closing.signal.aborted) {
          if (error instanceof PostponedDelivery) {
            const postponed = job.moveToDelayed(Date.now() + postponeMs(job), token)
            await withTimeout(postponed, returnTimeoutMs, 'postponing a delivery').catch(onError)
            throw new DelayedError()
          }
          throw error instanceof FinalDeliveryError ? new UnrecoverableError(error.message) : error
        }
        // A failure would use up an attempt. If it cannot be returned, it waits for its lock to
        // expire.
        const returned = job.moveToWait(token)
        await withTimeout(returned, returnTimeoutMs, 'returning a delivery').catch(onError)
        throw new WaitingError()
      }
    },
    {
      ...shared,
      concurrency: atOnce,
      // A process that is killed repeatedly must not use up the attempts of a delivery.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: {
        backoffStrategy: (attemptsMade) =>
          (retryDelaysMs[attemptsMade - 1] ?? 0) * (0.9 + Math.random() / 5),
      },
    },
  )
  worker.on('error', onError)
  worker.on('failed', (job, error) => {
    if (job?.id === undefined) return
    const attempt = job.attemptsMade
    // The sink may have asked for fewer attempts than the queue has.
    const isLast = attempt >= (job.opts.attempts ?? 1) || error instanceof UnrecoverableError
    onFailed({ id: parseJobId(job.id).id, attempt, isLast, error })
  })

  return {
    async close() {
      closing.abort()
      // BullMQ's `close` waits for Redis, and ignores `force` once closing has started.
      await withTimeout(worker.close(), closeTimeoutMs, 'closing deliveries').catch(onError)
    },
  }
}

/**
 * A random time, the longer the more often the delivery was started: however many wait, they take
 * turns, and few of them ask at once.
 */
const postponeMs = ({ attemptsStarted }: Job): number =>
  Math.random() * Math.min(postponeMaxMs, postponeMinMs * 2 ** attemptsStarted)

/** @param jobId the record's id, a dot and the sender, by whom ids are counted without the jobs */
export function parseJobId(jobId: string): { id: string; sender: string } {
  const [id = '', sender = ''] = jobId.split('.')
  return { id, sender }
}

/**
 * Keeps the mark that says whether deliveries are wanted, but not while Redis belongs to no
 * installation. It is written again at intervals, because Redis can lose it, and removed once: a
 * process that wants deliveries outlasts one that does not.
 */
export function markDeliveries(options: {
  redis: Redis
  queue: DeliveryQueue
  isWanted: boolean
  onError: (error: unknown) => void
  clock?: Clock
}): { close(): void } {
  const { redis, isWanted, onError, clock = systemClock } = options
  const key = deliveryMark(options.queue.name)
  let isRemoved = false
  const mark = whileConnected(redis, async () => {
    if (isRemoved || (await readInstallation(redis)) === null) return
    if (isWanted) await redis.hset(key, 'wanted', 1)
    else await redis.del(key)
    isRemoved = !isWanted
  })
  return startPolling({
    poll: () => withTimeout(mark(), markTimeoutMs, 'marking the deliveries'),
    intervalMs: markIntervalMs,
    onError,
    clock,
  })
}
