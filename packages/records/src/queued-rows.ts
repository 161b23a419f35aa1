import { kinds, type RecordKind } from '@intake/contract'
import {
  createQueuedFrames,
  FrameError,
  readShards,
  type QueuedFrame,
  type QueuedFrames,
} from '@intake/queue'
import { decompress } from '@intake/queue/frame'
import { withRedisTimeout, type Redis } from '@intake/redis'

/** A frame in Redis that has matching rows, or that this version cannot read. */
export interface FrameWithRows extends QueuedFrame {
  kind: RecordKind
  queue: QueuedFrames
  /** The matching rows as lines of JSON; undefined if this version cannot read the frame. */
  rows: string[] | undefined
}

const defaultTimeoutMs = 30_000
const readsAtOnce = 16

/**
 * Leaves out frames that are completed meanwhile: their rows are stored or dead letters.
 * @throws {TimeoutError} if a list, or a read of up to sixteen frames, takes longer
 */
export async function* findQueuedRows(
  redis: Redis,
  matches: (row: string) => boolean,
  timeoutMs = defaultTimeoutMs,
): AsyncGenerator<FrameWithRows> {
  const shards = await withRedisTimeout(redis, readShards(redis), timeoutMs)
  const queues = kinds.flatMap((kind) =>
    (kind === 'logs' ? shards : [0]).map((shard) => ({ kind, shard })),
  )
  for (const { kind, shard } of queues) {
    const queue = createQueuedFrames({ redis, kind, shard })
    const all = await withRedisTimeout(redis, queue.list(), timeoutMs)
    for (let at = 0; at < all.length; at += readsAtOnce) {
      const reads = all.slice(at, at + readsAtOnce).map(async (frame) => {
        return { ...frame, kind, queue, rows: await rowsOf(queue, frame.id, matches) }
      })
      const read = await withRedisTimeout(redis, Promise.all(reads), timeoutMs)
      yield* read.filter(({ rows }) => rows === undefined || rows.length > 0)
    }
  }
}

/** Empty if the frame is gone or no row matches, undefined if it cannot be read. */
async function rowsOf(
  queue: QueuedFrames,
  id: string,
  matches: (row: string) => boolean,
): Promise<string[] | undefined> {
  const frame = await queue.read(id)
  if (frame === undefined) return []
  if (frame instanceof FrameError) return undefined
  let ndjson: string
  try {
    ndjson = decompress(frame).toString()
  } catch {
    return undefined
  }
  return ndjson.split('\n').filter((row) => row !== '' && matches(row))
}
