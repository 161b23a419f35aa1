import { Queue } from 'bullmq'
import type { Redis } from '@intake/redis'
import { queueNames, type QueueName } from './names.ts'
import { shardPrefix } from './shards.ts'

/** One queue that jobs are added to. */
export interface JobSink {
  /** Resolves when a command can be sent; rejects when there is no connection. */
  ready(): Promise<void>
  /**
   * Adds a job, unless the queue has one with this id. Resolves when Redis has confirmed it. Rejects with
   * `ReplyError` when Redis refuses it; after any other error the job may be in the queue.
   */
  add(id: string, data: unknown): Promise<void>
  close(): Promise<void>
}

/** A queue in Redis, or one shard of it. The connection belongs to the caller. */
export function createJobSink(options: { redis: Redis; kind: QueueName; shard?: number }): JobSink {
  const { redis, kind, shard = 0 } = options
  let opening: Promise<Queue> | undefined
  // Opens the queue early, so that the first job need not wait for it. `ready` reports a failure.
  open().catch(() => {})

  /**
   * BullMQ never recovers a queue whose first connection to Redis failed, so such a queue is replaced.
   */
  function open(): Promise<Queue> {
    opening ??= (async () => {
      const queue = new Queue(queueNames[kind], { connection: redis, prefix: shardPrefix(shard) })
      // The owner of the connection reports its errors; here they would be reported twice.
      queue.on('error', () => {})
      try {
        await queue.waitUntilReady()
        return queue
      } catch (error) {
        opening = undefined
        throw error
      }
    })()
    return opening
  }

  return {
    async ready() {
      await open()
      if (redis.status !== 'ready') throw new Error('not connected to Redis')
    },

    async add(id, data) {
      const queue = await open()
      await queue.add(kind, data, {
        jobId: id,
        // A frame can only be completed; an outage must not exhaust its attempts.
        attempts: Number.MAX_SAFE_INTEGER,
        removeOnComplete: true,
      })
    },

    async close() {
      // BullMQ waits for the connection, and the owner of the connection may close it only afterwards.
      if (redis.status !== 'ready') return
      const queue = await opening?.catch(() => undefined)
      await queue?.close()
    },
  }
}
