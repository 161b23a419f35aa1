import { isDamaged, type Redis } from '@intake/redis'
import { readCounts } from './read-counts.ts'

/** The bytes that each API key has put into the queue, counted by all gateways. */
export interface QueuedBytes {
  add(apiKeyId: string, bytes: number): void
  /** Adds this gateway's new counts to those in Redis. */
  send(): Promise<void>
  /**
   * Resolves to what was counted since a time, in milliseconds since 1970, and up to ten minutes
   * before it. What is older than a day or was forgotten is missing.
   */
  since(fromMs: number): Promise<{ total: number; byKey: ReadonlyMap<string, number> }>
  /**
   * Removes what was counted in the current ten minutes. To be called when nothing is queued, so
   * that what was sent before a backlog does not count as part of it.
   */
  forget(): Promise<void>
}

const bucketMs = 10 * 60_000
/** The newest bucket and those of the day before it. */
const bucketsMax = 145
const expirySeconds = (bucketsMax * bucketMs) / 1_000

type Counts = ReadonlyMap<string, number>

/** The Redis key of the hash for ten minutes, which maps API key ids to bytes. */
const bucketKey = (bucket: number) => `{intake}:queued:${bucket}`

/** @param options.wallMs the gateway's clock, in milliseconds since 1970 */
export function createQueuedBytes(options: { redis: Redis; wallMs: () => number }): QueuedBytes {
  const { redis, wallMs } = options
  const unsent = new Map<string, number>()
  /** Buckets that were read when they could not change any more, as the newest two can. */
  let known = new Map<number, Counts>()
  const newestBucket = () => Math.floor(wallMs() / bucketMs)

  function add(apiKeyId: string, bytes: number): void {
    unsent.set(apiKeyId, (unsent.get(apiKeyId) ?? 0) + Math.round(bytes))
  }

  return {
    add,

    async send() {
      if (unsent.size === 0) return
      const sent = [...unsent]
      const key = bucketKey(newestBucket())
      const writing = redis.multi()
      for (const [apiKeyId, bytes] of sent) writing.hincrby(key, apiKeyId, bytes)
      const replies = await writing.expire(key, expirySeconds).exec()
      if (replies === null) throw new Error('Redis has discarded the transaction')
      // An amount that Redis cannot add to a damaged count is lost: repeating the transaction would
      // add the other amounts again and again.
      for (const [error] of replies) if (error !== null && !isDamaged(error)) throw error
      for (const [apiKeyId, bytes] of sent) {
        add(apiKeyId, -bytes)
        if (unsent.get(apiKeyId) === 0) unsent.delete(apiKeyId)
      }
    },

    async since(fromMs) {
      const newest = newestBucket()
      const length = Math.min(newest - Math.floor(fromMs / bucketMs) + 1, bucketsMax)
      const read = Array.from({ length }, async (_, age): Promise<[number, Counts]> => {
        const bucket = newest - age
        return [bucket, known.get(bucket) ?? (await readBucket(redis, bucket))]
      })
      const buckets = await Promise.all(read)
      known = new Map(buckets.filter(([bucket]) => bucket <= newest - 2))
      return sum(buckets.map(([, counts]) => counts))
    },

    async forget() {
      await redis.del(bucketKey(newestBucket()))
    },
  }
}

async function readBucket(redis: Redis, bucket: number): Promise<Counts> {
  const counts = Object.entries(await readCounts(redis, bucketKey(bucket)))
  return new Map(
    counts.flatMap(([id, bytes]) => (/^\d{1,15}$/.test(bytes) ? [[id, Number(bytes)]] : [])),
  )
}

function sum(buckets: readonly Counts[]): { total: number; byKey: Counts } {
  const byKey = new Map<string, number>()
  let total = 0
  for (const [id, bytes] of buckets.flatMap((bucket) => [...bucket])) {
    byKey.set(id, (byKey.get(id) ?? 0) + bytes)
    total += bytes
  }
  return { total, byKey }
}
