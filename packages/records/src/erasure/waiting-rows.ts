import type { QueuedFrames } from '@intake/queue'
import { withRedisTimeout, type Redis } from '@intake/redis'
import { tryJson } from '@intake/runtime'
import { findQueuedRows, type FrameWithRows } from '../queued-rows.ts'
import type { Subject } from './subject.ts'

const timeoutMs = 30_000

/** Finds the frames that contain rows of the subject, and those that cannot be read. */
export const waitingFrames = (redis: Redis, subject: Subject): AsyncGenerator<FrameWithRows> =>
  findQueuedRows(redis, (row) => isOf(subject, row))

interface Sender {
  received_at: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  api_key_id: string
}

/** The first columns of a row, as the gateway prints them, up to the API key. */
const head = /^\{(?:"\w+":"(?:[^"\\]|\\.)*",)*?"api_key_id":"(?:[^"\\]|\\.)*"/

/** Undefined if the text is no JSON object. Parses only the beginning of a gateway's row. */
function senderOf(json: string): Sender | undefined {
  const start = head.exec(json)?.[0]
  const row = tryJson(start === undefined ? json : `${start}}`) as Sender | null | undefined
  return typeof row === 'object' && row !== null ? row : undefined
}

/** True also for a row that cannot be read, because it may belong to the subject. */
function isOf(subject: Subject, row: string): boolean {
  const sender = senderOf(row)
  if (sender === undefined) return true
  if (subject.kind === 'api-key') {
    const at = Date.parse(sender.received_at)
    const isInRange = at >= subject.from.getTime() && at < subject.to.getTime()
    return sender.api_key_id === subject.id && isInRange
  }
  const { bundleIdentifier = sender.bundle_identifier } = subject
  if (sender.bundle_identifier !== bundleIdentifier) return false
  return subject.kind === 'user'
    ? sender.unique_user_id === subject.id
    : sender.device_uuid.toLowerCase() === subject.id
}

type Place = Pick<FrameWithRows, 'queue' | 'id'>

export async function stillWaiting<Frame extends Place>(
  redis: Redis,
  frames: readonly Frame[],
): Promise<Frame[]> {
  const left = new Map<QueuedFrames, Set<string>>()
  for (const queue of new Set(frames.map((frame) => frame.queue))) {
    const ids = frames.flatMap((frame) => (frame.queue === queue ? [frame.id] : []))
    left.set(queue, new Set(await withRedisTimeout(redis, queue.remaining(ids), timeoutMs)))
  }
  return frames.filter(({ queue, id }) => left.get(queue)?.has(id))
}
