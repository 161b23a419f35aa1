import { Queue, type QueueOptions } from 'bullmq'
import { requireConnection, type Redis, type ReplicaAcks } from '@intake/redis'
import { queueNames, type QueueName } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

export interface JobSink {
  /** Resolves when a command can be sent; rejects when there is no connection. */
  ready(): Promise<void>
  /**
   * Adds a job, unless the queue has one with this id. Resolves when Redis, and its replicas if
   * required, have confirmed it. Rejects with `ReplyError` when Redis refuses it; after any other
   * error it may be in the queue.
   */
  add(id: string, data: unknown): Promise<void>
  close(): Promise<void>
}

/** Unlimited, because a frame is never given up: an outage must not exhaust its attempts. */
const attempts = Number.MAX_SAFE_INTEGER

function newQueue(name: string, options: QueueOptions): Queue {
  const queue = new Queue(name, options)
  // The owner of the connection already reports its errors.
  queue.on('error', () => {})
  return queue
}

/**
 * Opens a queue in Redis, or one shard of it, on a connection of the caller.
 *
 * @param options.acks requires that replicas confirm a job, too; uses the same connection
 * @param options.requireExamined called with the hash tag of the queue. Rejects while there is no
 * connection (the default), or while the queue may have lost its jobs
 */
export function createJobSink(options: {
  redis: Redis
  kind: QueueName
  shard?: number
  acks?: ReplicaAcks | undefined
  requireExamined?: (tag: string) => Promise<void>
}): JobSink {
  const { redis, kind, acks } = options
  const prefix = shardPrefix(options.shard ?? 0)
  const { requireExamined = (tag: string) => requireConnection(redis, tag) } = options
  let opening: Promise<Queue> | undefined
  let opened: Queue | undefined
  /** The queue that has been connected once; BullMQ reconnects it from then on. */
  let usable: Queue | undefined
  // Opens the queue early, so that the first job need not wait for it. `ready` reports a failure.
  open().catch(() => {})

  /** BullMQ never recovers a queue whose first connection failed, so such a one is replaced. */
  function open(): Promise<Queue> {
    opening ??= (async () => {
      const queue = newQueue(queueNames[kind], { connection: redis, prefix })
      opened = queue
      try {
        await queue.waitUntilReady()
        usable = queue
        return queue
      } catch (error) {
        opening = undefined
        throw error
      }
    })()
    return opening
  }

  return {
    ready: () =>
      usable === undefined ? open().then(() => requireExamined(prefix)) : requireExamined(prefix),

    async add(id, data) {
      const queue = usable ?? (await open())
      const add = () => queue.add(kind, data, { jobId: id, attempts, removeOnComplete: true })
      await (acks === undefined ? add() : acks.confirm({ key: queue.toKey(id) }, add))
    },

    async close() {
      // BullMQ's `close` would wait for a connection, which the owner may close only afterwards.
      if (redis.status !== 'ready') return
      await opened?.close()
    },
  }
}
