import type { RecordKind } from '@intake/contract'
import { addCounts, readCounts, type Redis, type RedisState } from '@intake/redis'
import { startPolling, systemClock, type Clock } from '@intake/runtime'
import { memoryThresholds, nobody } from './admission.ts'

export type QueueShares = ReturnType<typeof startQueueShares>

/**
 * What this gateway has stored. Whoever stores a frame adds its bytes, and calls `send` when
 * `bytes` reaches `bytesMax`.
 */
export interface Unsent {
  /** The bytes of each key. A poll adds them in Redis, for all gateways, and takes them out here. */
  readonly byKey: Map<string, number>
  /** The bytes since the last poll began. */
  bytes: number
  bytesMax: number
  /** Polls now: a fast sender would fill the queue before the next poll. */
  send(): void
}

/** A key may hold this many times the memory that is free. */
const perFree = 2
/** A key that holds less than this part of Redis's memory is never over its share. */
const littlePart = 1 / 100
/** While the oldest frame is younger, workers keep up: the queue is not what fills memory. */
const backlogMsMin = 1_000
/** A gateway that has stored this fraction of Redis's memory polls at once. */
const urgentPart = 1 / 50
const intervalMs = 1_000

/**
 * Divides the queue among the API keys while workers do not keep up. A key that holds more than
 * twice the memory that is free up to `resume` of a kind of record is over its share of it. So one
 * key alone fills at most two thirds of that, and two fill at most two fifths each. A key that holds
 * little can send until the queue is full: the memory up to `refuse` is a reserve for such keys.
 *
 * Counts what each API key holds. Nothing is ever subtracted: what a key holds is its part
 * of everything stored since the oldest queued frame arrived. So frames that are completed, twice
 * or by nobody, and processes that are killed, cause no error that remains.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.oldestQueued resolves to the arrival of the oldest record in a frame that waits or
 * is claimed, in milliseconds since 1970
 * @param options.isShared whether there are several API keys. A key that is alone may use the whole
 * queue
 */
export function startQueueShares(options: {
  redis: Redis
  redisPoll: {
    state(): Pick<RedisState, 'memoryUsed' | 'memoryBytesMax'> | undefined
    refresh(): Promise<void>
  }
  oldestQueued: () => Promise<number | undefined>
  isShared: () => boolean
  onError: (error: unknown) => void
  clock?: Clock
  wallMs?: () => number
}) {
  const { redis, redisPoll, oldestQueued, isShared, clock = systemClock } = options
  const { wallMs = Date.now } = options
  const unsent: Unsent = {
    byKey: new Map(),
    bytes: 0,
    bytesMax: Infinity,
    send: () => polling.pollNow(),
  }
  const queued = createQueuedBytes({ redis, unsent: unsent.byKey, wallMs })
  /** The ids of the keys that are over their share for a kind of record, as of the last poll. */
  const over = { ...nobody }

  async function findOver(): Promise<typeof nobody> {
    if (!isShared()) return nobody
    const oldestMs = (await oldestQueued()) ?? Infinity
    const isKeptUp = wallMs() - oldestMs < backlogMsMin
    if (isKeptUp) await queued.forget()
    const { memoryUsed = 0 } = redisPoll.state() ?? {}
    const allowed = (kind: RecordKind) =>
      Math.max(perFree * (memoryThresholds[kind].resume - memoryUsed), littlePart)
    // No key can hold more than all. For feedback, more is allowed than for logs.
    if (isKeptUp || memoryUsed <= allowed('logs')) return nobody
    const { total, byKey } = await queued.since(oldestMs)
    const overOf = (kind: RecordKind) => {
      const isOver = (bytes: number) => (memoryUsed * bytes) / total > allowed(kind)
      return new Set([...byKey].flatMap(([id, bytes]) => (isOver(bytes) ? id : [])))
    }
    return { logs: overOf('logs'), feedback: overOf('feedback') }
  }

  const polling = startPolling({
    async poll() {
      const mayHaveGrown = unsent.bytes > 0
      unsent.bytes = 0
      await Promise.all([queued.send(), mayHaveGrown && redisPoll.refresh()])
      unsent.bytesMax = (redisPoll.state()?.memoryBytesMax ?? Infinity) * urgentPart
      Object.assign(over, await findOver())
    },
    intervalMs,
    onError(error) {
      // What is not known refuses nobody; the limit for all keys remains.
      Object.assign(over, nobody)
      options.onError(error)
    },
    clock,
  })

  return { unsent, over, close: polling.close }
}

const bucketMs = 10 * 60_000
/** The newest bucket and those of the day before it. */
const bucketsMax = 145
const expirySeconds = (bucketsMax * bucketMs) / 1_000

type Counts = ReadonlyMap<string, number>

const bucketKey = (bucket: number) => `{intake}:queued:${bucket}`

/** The bytes that each API key has put into the queue, counted by all gateways. */
function createQueuedBytes(options: {
  redis: Redis
  unsent: Map<string, number>
  wallMs: () => number
}) {
  const { redis, unsent, wallMs } = options
  /** Buckets that were read when they could not change any more, as the newest two can. */
  let known = new Map<number, Counts>()
  const newestBucket = () => Math.floor(wallMs() / bucketMs)

  return {
    /** Moves this gateway's counts in `unsent` to Redis. */
    async send(): Promise<void> {
      if (unsent.size === 0) return
      const sent = [...unsent]
      const key = bucketKey(newestBucket())
      const writing = redis.multi()
      for (const [apiKeyId, bytes] of sent) writing.hincrby(key, apiKeyId, bytes)
      await addCounts(writing.expire(key, expirySeconds))
      for (const [apiKeyId, bytes] of sent) {
        const rest = (unsent.get(apiKeyId) ?? 0) - bytes
        if (rest === 0) unsent.delete(apiKeyId)
        else unsent.set(apiKeyId, rest)
      }
    },

    /**
     * Resolves to what was counted since a time, in milliseconds since 1970, and up to ten minutes
     * before it. What is older than a day or was forgotten is missing.
     */
    async since(fromMs: number): Promise<{ total: number; byKey: Counts }> {
      const newest = newestBucket()
      const length = Math.min(newest - Math.floor(fromMs / bucketMs) + 1, bucketsMax)
      const read = Array.from({ length }, async (_, age): Promise<[number, Counts]> => {
        const bucket = newest - age
        return [bucket, known.get(bucket) ?? new Map(await readCounts(redis, bucketKey(bucket)))]
      })
      const buckets = await Promise.all(read)
      known = new Map(buckets.filter(([bucket]) => bucket <= newest - 2))
      return sum(buckets.map(([, counts]) => counts))
    },

    /**
     * Removes what was counted in the current ten minutes. To be called while workers keep up, so
     * that what was sent before a backlog does not count as part of it.
     */
    async forget(): Promise<void> {
      await redis.del(bucketKey(newestBucket()))
    },
  }
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
