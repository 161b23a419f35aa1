import { Queue } from 'bullmq'
import type { Redis } from '@intake/redis'
import { queueNames, type QueueName } from './names.ts'
import { shardPrefix, shardsMax } from './shards/shards.ts'

/**
 * Pauses queues: no worker claims their frames, and gateways still add some. Both methods may be
 * repeated. The log queue is paused with all shards that it can have, also those without frames.
 */
export function createQueuePause({ redis }: { redis: Redis }) {
  async function forEach(
    names: readonly QueueName[],
    command: (queue: Queue) => Promise<void>,
  ): Promise<void> {
    for (const name of names) {
      const shards = Array.from({ length: name === 'logs' ? shardsMax : 1 }, (_, shard) => shard)
      await Promise.all(
        shards.map(async (shard) => {
          const prefix = shardPrefix(shard)
          const queue = new Queue(queueNames[name], { connection: redis, prefix })
          queue.on('error', () => {})
          try {
            await command(queue)
          } finally {
            await queue.close()
          }
        }),
      )
    }
  }

  return {
    pause: (names: readonly QueueName[]) => forEach(names, (queue) => queue.pause()),
    resume: (names: readonly QueueName[]) => forEach(names, (queue) => queue.resume()),
  }
}
