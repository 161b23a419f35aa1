import type { Subject } from './subject.ts'
import { createQueuedFrames } from '@intake/queue'
import { withRedisTimeout, type Redis } from '@intake/redis'
import { findQueuedRows, type FrameWithRows } from '../queued-rows.ts'
import { isOf, senderOfRow } from './sender-of-row.ts'

/** A frame in Redis that has rows of a subject, or that this version cannot read. */
export type WaitingFrame = Omit<FrameWithRows, 'isClaimed'>

const timeoutMs = 30_000

/** Finds the frames that contain rows of the subject, and those that cannot be read. */
export function waitingFrames(redis: Redis, subject: Subject): AsyncGenerator<WaitingFrame> {
  return findQueuedRows(redis, (row) => isOf(subject, senderOfRow(row)))
}

/** Returns those of the `frames` that are still in Redis. */
export async function stillWaiting(
  redis: Redis,
  frames: readonly WaitingFrame[],
): Promise<WaitingFrame[]> {
  const remaining: WaitingFrame[] = []
  const queues = new Map<string, WaitingFrame[]>()
  for (const frame of frames) {
    const queue = `${frame.kind} ${frame.shard}`
    queues.set(queue, [...(queues.get(queue) ?? []), frame])
  }
  for (const mine of queues.values()) {
    const { kind, shard } = mine[0]!
    const ids = await withRedisTimeout(
      redis,
      createQueuedFrames({ redis, kind, shard }).remaining(mine.map(({ id }) => id)),
      timeoutMs,
    )
    const left = new Set(ids)
    remaining.push(...mine.filter(({ id }) => left.has(id)))
  }
  return remaining
}
