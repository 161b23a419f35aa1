import { kinds, type RecordKind } from '@intake/contract'
import { bucketsOf, levelsMax, type Buckets, type Day } from './reservation-buckets.ts'
import { primaryOf, type Redis } from '@intake/redis'
import { startPolling, systemClock, withTimeout, type Clock } from '@intake/runtime'
import { createReservationUsages } from './reservation-usage.ts'

export type ReservationLedger = ReturnType<typeof createReservationLedger>

/** What a reservation takes with its share of all overhead; 41 to 55 bytes were measured. */
export const reservationBytes = 64
const intervalMs = 1_000
/** How often a gateway without new reservations reads the counts of the others. */
const quietMs = 5_000
const askTimeoutMs = 5_000

/**
 * Knows in which Redis hashes (buckets) the reservation of a key can be, and how many more
 * reservations are allowed.
 *
 * @param options.memoryBytes the memory that Redis may use; undefined while unknown
 */
export function createReservationLedger(options: {
  redis: Redis
  memoryBytes: () => number | undefined
  shares: Record<RecordKind, number>
  onError: (error: unknown) => void
  clock?: Clock
}) {
  const { redis, memoryBytes, shares, onError, clock = systemClock } = options
  const usage = createReservationUsages({ redis, clock })
  const levels: Record<RecordKind, number> = { logs: 1, feedback: 1 }
  let today: Day | undefined
  let asking: Promise<void> | undefined
  let askedAt = -Infinity

  const reservationsMax = (kind: RecordKind) =>
    ((memoryBytes() ?? 0) * shares[kind]) / reservationBytes
  const free = (kind: RecordKind) => reservationsMax(kind) - usage[kind].total()

  async function ask(): Promise<void> {
    if (memoryBytes() === undefined) return
    const [seconds] = await primaryOf(redis).time()
    today = Math.floor(Number(seconds) / 86_400)
    for (const kind of kinds) await usage[kind].sync(today)
    askedAt = clock.now()
  }

  function refresh(): Promise<void> {
    // Does not start a second reading while the first is running, even if the first takes longer
    // than the timeout, because the second would send the same counts again.
    asking ??= ask().finally(() => (asking = undefined))
    return withTimeout(asking, askTimeoutMs, 'reading the reservations', clock)
  }

  const polling = startPolling({
    async poll() {
      const isUnsent = kinds.some((kind) => usage[kind].isUnsent())
      if (isUnsent || clock.now() - askedAt >= quietMs) await refresh()
    },
    intervalMs,
    onError,
    clock,
  })

  return {
    /** The buckets that may contain a key; undefined until the first reply of Redis. */
    buckets: (kind: RecordKind, keyHash: Buffer): Buckets | undefined =>
      today === undefined ? undefined : bucketsOf({ kind, keyHash, today, levels: levels[kind] }),
    /**
     * Adds a level of buckets, for keys whose buckets of all earlier levels are full. Ignored if
     * another call has already added a level.
     *
     * @param before the number of levels when the buckets of a key were found to be full
     */
    deepen(kind: RecordKind, before: number): void {
      levels[kind] = Math.min(Math.max(levels[kind], before + 1), levelsMax)
    },
    /**
     * An API key may have as many reservations as are still free: one alone half of the maximum,
     * two a third each. So several keys cannot use up what the others need.
     */
    hasRoom: (kind: RecordKind, apiKeyId: string) => usage[kind].of(apiKeyId) < free(kind),
    reserved: (kind: RecordKind, apiKeyId: string) => usage[kind].add(apiKeyId),
    /** The number of reservations of all gateways, and the maximum. */
    usage: (kind: RecordKind) => ({
      held: usage[kind].total(),
      max: Math.floor(reservationsMax(kind)),
    }),
    /** Sentences about why new idempotency keys are refused, for all API keys or for one. */
    full: (): string[] =>
      kinds.flatMap((kind) => {
        if (memoryBytes() === undefined || usage[kind].largest() < free(kind)) return []
        return free(kind) > 0
          ? `one API key has used up its part of the idempotency keys of ${kind}`
          : `the idempotency keys of ${kind} have used up their share of Redis`
      }),
    /** Polls Redis at once, for example when the day has changed. */
    refresh,
    close: polling.close,
  }
}
