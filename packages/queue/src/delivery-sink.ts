import { Queue } from 'bullmq'
import { whileConnected, type Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { attemptsOf, deliveryMark, parseJobId, type DeliveryQueue } from './deliveries.ts'
import { queuePrefix } from './names.ts'

interface Delivery {
  id: string
  /** The id of the API key that the record came with. */
  sender: string
}

const idsMax = 10_000
const commandTimeoutMs = 5_000
const daySeconds = 24 * 60 * 60

export type DeliverySink = ReturnType<typeof createDeliverySink>

/**
 * Adds record ids to a queue of deliveries, whose deliveries another process makes.
 *
 * @param options.redis a connection of the role `consumer`, which the caller closes
 */
export function createDeliverySink(options: {
  redis: Redis
  queue: DeliveryQueue
  onError: (error: Error) => void
}) {
  const { redis, onError } = options
  const { name } = options.queue
  // The sink must not create the mark of the queue, which BullMQ would do.
  const queue = new Queue(name, { connection: redis, prefix: queuePrefix, skipMetasUpdate: true })
  queue.on('error', onError)
  const jobOptions = {
    attempts: attemptsOf(options.queue),
    backoff: { type: 'custom' },
    removeOnComplete: { age: daySeconds, count: 2 * idsMax },
    removeOnFail: { age: 7 * daySeconds, count: 1_000 },
  }
  const readMark = whileConnected(redis, () => redis.exists(deliveryMark(name)))

  return {
    /**
     * Adds the deliveries that the queue does not know: it knows unfinished ones, the last 20,000
     * that were delivered (for a day) and the last 1,000 that were given up (for a week). Adds
     * nothing while no process wants them (see `markDeliveries`). After an error any may be in the
     * queue.
     *
     * Resolves to the number that got no place. Of 10,000 places, a sender gets no more once it
     * holds as many as are free. So one sender fills at most half, two a third each, and another
     * always finds room.
     */
    async add(deliveries: readonly Delivery[]): Promise<number> {
      const isWanted = await withTimeout(readMark(), commandTimeoutMs, 'reading the mark')
      if (isWanted === 0) return 0
      const unfinished = queue.getRanges(['waiting', 'active', 'delayed'], 0, -1)
      const known = new Set(await withTimeout(unfinished, commandTimeoutMs, 'reading deliveries'))
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

    async close(): Promise<void> {
      // BullMQ's `close` would wait for a connection.
      if (redis.status === 'ready') await queue.close()
    },
  }
}
