import { isDamaged, type Redis, type RedisState } from '@intake/redis'
import { startPolling, systemClock, type Clock } from '@intake/runtime'
import { memoryThresholds } from './admission.ts'
import { readCounts } from '../identity/reservation-usage.ts'

/**
 * Divides the queue of logs among the API keys while workers do not keep up. A key that holds more
 * than twice the memory that is still free is over its share. So one key alone fills at most two
 * thirds of the queue, two fill at most two fifths each, and a key that holds little can send until
 * the queue is full. Nobody is over while less than half of Redis's memory is used.
 */
export interface QueueShares {
  /** Counts what a stored frame holds for a key. */
  add(apiKeyId: string, bytes: number): void
  /** The ids of the keys that are over their share, as of the last poll. */
  over(): ReadonlySet<string>
  close(): void
}

/** A key may hold this many times the memory that is free. */
const perFree = 2
/**
 * While the oldest waiting frame is younger, workers keep up, and what fills the memory is
 * something else than the queue.
 */
const backlogMsMin = 2_000
const bucketMs = 10 * 60_000
/** What was stored earlier than this many buckets ago is no longer attributed to its key. */
const bucketsMax = 144
const expirySeconds = ((bucketsMax + 1) * bucketMs) / 1_000
const intervalMs = 1_000
const nobody: ReadonlySet<string> = new Set()

type Counts = ReadonlyMap<string, number>

/** The Redis key of the hash for ten minutes, which maps API key ids to bytes. */
const bucketKey = (bucket: number) => `{intake}:queued:${bucket}`

/**
 * Each gateway adds its counts to the counts in Redis once a second. Nothing is ever subtracted:
 * what a key holds is its part of everything stored since the oldest waiting frame arrived. So
 * frames that are completed, twice or by nobody, and processes that are killed, cause no error that
 * remains.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.oldestWaiting resolves to the arrival of the oldest record in an unclaimed frame,
 * in milliseconds since 1970
 * @param options.isShared whether there are several API keys. A key that is alone may use the whole
 * queue
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function startQueueShares(options: {
  redis: Redis
  state: () => Pick<RedisState, 'memoryUsed'> | undefined
  oldestWaiting: () => Promise<number | undefined>
  isShared: () => boolean
  onError: (error: unknown) => void
  clock?: Clock
  wallMs?: () => number
}): QueueShares {
  const { redis, state, oldestWaiting, isShared, clock = systemClock } = options
  const { wallMs = () => Date.now() } = options
  const unsent = new Map<string, number>()
  /** The buckets of the last window. Only the newest two can still change. */
  let known = new Map<number, Counts>()
  let over = nobody

  async function send(): Promise<void> {
    if (unsent.size === 0) return
    const sent = new Map(unsent)
    const key = bucketKey(Math.floor(wallMs() / bucketMs))
    const writing = redis.multi()
    for (const [apiKeyId, bytes] of sent) writing.hincrby(key, apiKeyId, Math.round(bytes))
    const replies = await writing.expire(key, expirySeconds).exec()
    if (replies === null) throw new Error('Redis has discarded the transaction')
    // An amount that Redis cannot add to a damaged count is lost: repeating the transaction would
    // add the other amounts again and again.
    for (const [error] of replies) if (error !== null && !isDamaged(error)) throw error
    for (const [apiKeyId, bytes] of sent) {
      const left = (unsent.get(apiKeyId) ?? 0) - bytes
      if (left > 0) unsent.set(apiKeyId, left)
      else unsent.delete(apiKeyId)
    }
  }

  async function readWindow(fromMs: number): Promise<Counts[]> {
    const newest = Math.floor(wallMs() / bucketMs)
    const oldest = Math.max(Math.floor(fromMs / bucketMs), newest - bucketsMax)
    const length = Math.max(0, newest - oldest + 1)
    const entries = await Promise.all(
      Array.from({ length }, async (_, age): Promise<[number, Counts]> => {
        const bucket = newest - age
        const final = age < 2 ? undefined : known.get(bucket)
        return [bucket, final ?? (await readBucket(redis, bucket))]
      }),
    )
    known = new Map(entries)
    return [...known.values()]
  }

  async function findOver(): Promise<ReadonlySet<string>> {
    const { memoryUsed = 0 } = state() ?? {}
    const allowed = perFree * (memoryThresholds.logs.refuse - memoryUsed)
    // No key can hold more than all.
    if (memoryUsed <= allowed || !isShared()) return nobody
    const oldestMs = await oldestWaiting()
    if (oldestMs === undefined || wallMs() - oldestMs < backlogMsMin) return nobody
    const held = new Map<string, number>()
    let total = 0
    for (const bucket of await readWindow(oldestMs)) {
      for (const [apiKeyId, bytes] of bucket) {
        held.set(apiKeyId, (held.get(apiKeyId) ?? 0) + bytes)
        total += bytes
      }
    }
    const isOver = (bytes: number) => (memoryUsed * bytes) / total > allowed
    return new Set([...held].flatMap(([id, bytes]) => (isOver(bytes) ? id : [])))
  }

  const polling = startPolling({
    async poll() {
      await send()
      over = await findOver()
    },
    intervalMs,
    onError(error) {
      // What is not known refuses nobody; the limit for all keys remains.
      over = nobody
      options.onError(error)
    },
    clock,
  })

  return {
    add: (apiKeyId, bytes) => void unsent.set(apiKeyId, (unsent.get(apiKeyId) ?? 0) + bytes),
    over: () => over,
    close: polling.close,
  }
}

async function readBucket(redis: Redis, bucket: number): Promise<Counts> {
  const counts = Object.entries(await readCounts(redis, bucketKey(bucket)))
  return new Map(
    counts.flatMap(([id, bytes]) => (/^\d{1,15}$/.test(bytes) ? [[id, Number(bytes)]] : [])),
  )
}
