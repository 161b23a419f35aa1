import type { RecordKind } from '@intake/contract'
import { createKeyCounts, type Redis, type RedisState } from '@intake/redis'
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
/** Stored bytes are counted in periods of this length, for up to a day. */
const periodMs = 10 * 60_000
const periodsMax = 144
const periodKey = (period: number) => `{intake}:queued:${period}`

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
  const queued = createKeyCounts({
    redis,
    keyOf: periodKey,
    keptSeconds: ((periodsMax + 1) * periodMs) / 1_000,
    clock,
  })
  const unsent: Unsent = {
    byKey: queued.unsent,
    bytes: 0,
    bytesMax: Infinity,
    send: () => polling.pollNow(),
  }
  /** The ids of the keys that are over their share for a kind of record, as of the last poll. */
  const over = { ...nobody }

  async function findOver(newest: number): Promise<typeof nobody> {
    if (!isShared()) return nobody
    const oldestMs = (await oldestQueued()) ?? Infinity
    const isKeptUp = wallMs() - oldestMs < backlogMsMin
    // What was sent before a backlog does not count as part of it.
    if (isKeptUp) await redis.del(periodKey(newest))
    const { memoryUsed = 0 } = redisPoll.state() ?? {}
    const allowed = (kind: RecordKind) =>
      Math.max(perFree * (memoryThresholds[kind].resume - memoryUsed), littlePart)
    // No key can hold more than all. For feedback, more is allowed than for logs.
    if (isKeptUp || memoryUsed <= allowed('logs')) return nobody
    // What is older than a day is missing; what arrived up to a period before the oldest counts too.
    const before = Math.min(newest - Math.floor(oldestMs / periodMs), periodsMax)
    const byKey = await queued.read(newest, Math.max(before, 0))
    const total = [...byKey.values()].reduce((sum, bytes) => sum + bytes, 0)
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
      const newest = Math.floor(wallMs() / periodMs)
      await Promise.all([queued.send(newest), mayHaveGrown && redisPoll.refresh()])
      unsent.bytesMax = (redisPoll.state()?.memoryBytesMax ?? Infinity) * urgentPart
      Object.assign(over, await findOver(newest))
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
