import { gunzipSync } from 'node:zlib'
import type { Subject } from '@intake/clickhouse'
import { kinds, type RecordKind } from '@intake/contract'
import { createQueuedFrames, FrameError, type QueuedFrames } from '@intake/queue'
import type { Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { isOf, senderOfRow } from './sender-of-row.ts'

/** A frame in Redis with rows of a subject. */
export interface WaitingFrame {
  kind: RecordKind
  id: string
  /** The rows of the subject, each one line of JSON; undefined: this version cannot read the frame. */
  rows: string[] | undefined
}

const timeoutMs = 30_000
const readsAtOnce = 16

/**
 * The frames that are in Redis when it is called and hold rows of the subject. Frames that are completed
 * meanwhile are left out: their rows are in the tables or are dead letters.
 */
export async function* waitingFrames(redis: Redis, subject: Subject): AsyncGenerator<WaitingFrame> {
  for (const kind of kinds) {
    const frames = createQueuedFrames({ redis, kind })
    const ids = await withTimeout(frames.list(), timeoutMs, 'Redis')
    for (let at = 0; at < ids.length; at += readsAtOnce) {
      const reads = ids.slice(at, at + readsAtOnce).map(async (id) => {
        return { kind, id, rows: await rowsOf(frames, id, subject) }
      })
      const read = await withTimeout(Promise.all(reads), timeoutMs, 'Redis')
      yield* read.filter(({ rows }) => rows === undefined || rows.length > 0)
    }
  }
}

/** Those of the frames that are still in Redis. */
export async function stillWaiting(
  redis: Redis,
  frames: readonly WaitingFrame[],
): Promise<WaitingFrame[]> {
  const remaining: WaitingFrame[] = []
  for (const kind of kinds) {
    const mine = frames.filter((frame) => frame.kind === kind)
    const ids = await withTimeout(
      createQueuedFrames({ redis, kind }).remaining(mine.map(({ id }) => id)),
      timeoutMs,
      'Redis',
    )
    const left = new Set(ids)
    remaining.push(...mine.filter(({ id }) => left.has(id)))
  }
  return remaining
}

/** None when the frame is gone or has no rows of the subject; undefined when it cannot be read. */
async function rowsOf(
  frames: QueuedFrames,
  id: string,
  subject: Subject,
): Promise<string[] | undefined> {
  const frame = await frames.read(id)
  if (frame === undefined) return []
  if (frame instanceof FrameError) return undefined
  const ndjson = unzip(frame.gzip)
  return ndjson?.split('\n').filter((row) => row !== '' && isOf(subject, senderOfRow(row)))
}

function unzip(gzip: Buffer): string | undefined {
  try {
    return gunzipSync(gzip).toString()
  } catch {
    return undefined
  }
}
