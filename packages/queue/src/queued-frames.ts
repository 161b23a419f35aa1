import type { RecordKind } from '@intake/contract'
import { execAll, type Redis } from '@intake/redis'
import { FrameError, openFrame, type Frame } from './frame.ts'
import { jobLists, jobSets, queueNames } from './names.ts'
import { shardPrefix } from './shards/shards.ts'

export interface QueuedFrame {
  id: string
  /** Whether a worker has claimed the frame, even if that worker has died. */
  isClaimed: boolean
}

export type QueuedFrames = ReturnType<typeof createQueuedFrames>

/** The frames of a queue or shard, read without claiming them, each method in one round trip. */
export function createQueuedFrames(options: { redis: Redis; kind: RecordKind; shard?: number }) {
  const { redis, kind, shard = 0 } = options
  const key = (name: string) => `${shardPrefix(shard)}:${queueNames[kind]}:${name}`

  return {
    /** All frames, read at one moment. */
    async list(): Promise<QueuedFrame[]> {
      // Reads all lists in one transaction, because jobs move between them.
      const reads = redis.multi()
      for (const name of jobLists) reads.lrange(key(name), 0, -1)
      for (const name of jobSets) reads.zrange(key(name), '0', '-1')
      const lists = (await execAll(reads)) as string[][]
      return [...jobLists, ...jobSets].flatMap((name, index) =>
        lists[index]!.map((id) => ({ id, isClaimed: name === 'active' })),
      )
    },

    /** Resolves to undefined if the frame was completed, to an error if it cannot be read. */
    async read(id: string): Promise<Frame | FrameError | undefined> {
      const json = await redis.hget(key(id), 'data')
      if (json === null) return undefined
      try {
        return openFrame(JSON.parse(json))
      } catch (error) {
        if (error instanceof FrameError) return error
        if (error instanceof SyntaxError) return new FrameError('job data is not JSON')
        throw error
      }
    },

    /** Returns those of the `ids` whose frames are still in the queue. */
    async remaining(ids: readonly string[]): Promise<string[]> {
      if (ids.length === 0) return []
      const reads = redis.multi()
      for (const id of ids) reads.exists(key(id))
      const exist = await execAll(reads)
      return ids.filter((_, index) => exist[index] === 1)
    },
  }
}
