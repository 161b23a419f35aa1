import { kinds, type RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { bucketsOf, levelsMax, type Buckets, type Day } from './reservation-buckets.ts'
import { createReservationUsage } from './reservation-usage.ts'

/** Where reservations are, and how many more there may be. */
export interface ReservationLedger {
  /** The buckets in which a key may be found; undefined until Redis has been asked once. */
  buckets(kind: RecordKind, keyHash: Buffer): Buckets | undefined
  /** Looks one level deeper from now on: a bucket with this many levels was full. */
  deepen(kind: RecordKind, levels: number): void
  /** Whether an API key may make one more reservation. */
  hasRoom(kind: RecordKind, apiKeyId: string): boolean
  /** Counts one that was made. */
  reserved(kind: RecordKind, apiKeyId: string): void
  /** Of which kinds new keys are refused, to all or to an API key; in words for an operator. */
  full(): string[]
  /** Asks Redis at once, at midnight say. */
  refresh(): Promise<void>
  close(): void
}

/**
 * What a reservation takes, with its part of everything round it, when there are so many that the share is
 * used up; measured: 41 to 55 bytes.
 */
const reservationBytes = 64
/** Of the share of a kind, so that one application leaves room for another. */
const apiKeyPart = 0.5
const intervalMs = 1_000
const askTimeoutMs = 5_000

/**
 * @param options.memoryBytes what Redis may use; undefined while that is not known
 * @param options.shares of it, by kind, for reservations
 */
export function createReservationLedger(options: {
  redis: Redis
  memoryBytes: () => number | undefined
  shares: Record<RecordKind, number>
  onError: (error: unknown) => void
}): ReservationLedger {
  const { redis, memoryBytes, shares } = options
  const usage = createReservationUsage({ redis })
  const levels: Record<RecordKind, number> = { logs: 1, feedback: 1 }
  let today: Day | undefined
  let asking: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined
  let closed = false

  const reservationsMax = (kind: RecordKind) =>
    ((memoryBytes() ?? 0) * shares[kind]) / reservationBytes

  async function ask(): Promise<void> {
    if (memoryBytes() === undefined) return
    const [seconds] = await redis.time()
    today = Math.floor(Number(seconds) / 86_400)
    await usage.sync(today)
  }

  const refresh = (): Promise<void> =>
    (asking ??= withTimeout(ask(), askTimeoutMs, 'reading the reservations').finally(() => {
      asking = undefined
    }))

  async function poll(): Promise<void> {
    await refresh().catch(options.onError)
    if (!closed) timer = setTimeout(() => void poll(), today === undefined ? 100 : intervalMs)
  }
  void poll()

  return {
    buckets: (kind, keyHash) =>
      today === undefined ? undefined : bucketsOf({ kind, keyHash, today, levels: levels[kind] }),
    deepen(kind, before) {
      levels[kind] = Math.min(Math.max(levels[kind], before + 1), levelsMax)
    },
    hasRoom: (kind, apiKeyId) =>
      usage.total(kind) < reservationsMax(kind) &&
      usage.of(kind, apiKeyId) < reservationsMax(kind) * apiKeyPart,
    reserved: (kind, apiKeyId) => usage.add(kind, apiKeyId),
    full: () =>
      kinds.flatMap((kind) => {
        if (usage.total(kind) >= reservationsMax(kind)) {
          return [`the idempotency keys of ${kind} have used up their share of Redis`]
        }
        return usage.largest(kind) >= reservationsMax(kind) * apiKeyPart
          ? [`one API key has used up its part of the idempotency keys of ${kind}`]
          : []
      }),
    refresh,
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}
