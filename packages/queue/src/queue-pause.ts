import { Queue } from 'bullmq'
import type { Redis } from '@intake/redis'
import { queueNames, queuePrefix, type QueueName } from './names.ts'

/**
 * Pauses queues: no worker claims a frame of a paused queue, and gateways continue to add frames. Workers store
 * what they have claimed. Both may be repeated.
 */
export interface QueuePause {
  pause(queues: readonly QueueName[]): Promise<void>
  resume(queues: readonly QueueName[]): Promise<void>
}

/** With BullMQ's own pause. The connection belongs to the caller. */
export function createQueuePause({ redis }: { redis: Redis }): QueuePause {
  async function forEach(
    names: readonly QueueName[],
    command: (queue: Queue) => Promise<void>,
  ): Promise<void> {
    for (const name of names) {
      const queue = new Queue(queueNames[name], { connection: redis, prefix: queuePrefix })
      // The owner of the connection reports its errors.
      queue.on('error', () => {})
      await command(queue)
      await queue.close()
    }
  }

  return {
    pause: (names) => forEach(names, (queue) => queue.pause()),
    resume: (names) => forEach(names, (queue) => queue.resume()),
  }
}
