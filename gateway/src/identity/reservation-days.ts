import { kinds, limits, type RecordKind } from '@intake/contract'
import type { Redis } from '@intake/redis'

/** Days since 1970, by the clock of Redis. */
export type Day = number

/** Which buckets the reservations of a day are in. */
export interface ReservationDays {
  today: Day
  /** The binary logarithm of the number of buckets, by kind and day. */
  bits: Map<string, number>
}

const layoutKey = '{intake}:reservations:layout'
const layoutField = (kind: RecordKind, day: Day) => `${kind}:${day}`

/**
 * Small hashes are stored compactly (a listpack: 38 bytes for a reservation), large ones take three times
 * as much, so there must be enough of them.
 */
const fieldsPerBucket = 96
/** All days of a key share a Redis Cluster slot: that of the first 8 bits of its hash. */
const bitsMin = 8
const bitsMax = 24

/**
 * Reads how many buckets each day has, and settles it for today and tomorrow. All gateways see the same
 * numbers, also when the memory of Redis changes: then the next days get other ones.
 *
 * @param reservationsMax how many reservations of each kind there may be
 */
export async function agreeOnDays(
  redis: Redis,
  reservationsMax: Record<RecordKind, number>,
): Promise<ReservationDays> {
  const [seconds] = await redis.time()
  const today = Math.floor(Number(seconds) / 86_400)
  const agreeing = redis.multi()
  for (const kind of kinds) {
    const bits = String(bitsFor(reservationsMax[kind] / (limits.keyDays[kind] + 1)))
    agreeing.hsetnx(layoutKey, layoutField(kind, today), bits)
    agreeing.hsetnx(layoutKey, layoutField(kind, today + 1), bits)
    agreeing.hdel(layoutKey, layoutField(kind, today - limits.keyDays[kind] - 2))
  }
  const replies = await agreeing.hgetall(layoutKey).exec()
  const layout = (replies?.at(-1)?.[1] ?? {}) as Record<string, string>
  const bits = new Map(Object.entries(layout).map(([field, value]) => [field, Number(value)]))
  return { today, bits }
}

function bitsFor(reservations: number): number {
  const bits = Math.ceil(Math.log2(Math.max(reservations / fieldsPerBucket, 1)))
  return Math.min(Math.max(bits, bitsMin), bitsMax)
}

/**
 * The bucket of a key on each day on which it may be found: from the oldest to tomorrow.
 *
 * @param keyHash at least 32 bits
 */
export function bucketsOf(
  { today, bits }: ReservationDays,
  kind: RecordKind,
  keyHash: Buffer,
): { firstDay: Day; keys: string[] } {
  const firstDay = today - limits.keyDays[kind]
  const digits = keyHash.readUInt32BE(0)
  const tag = (digits >>> 24).toString(16).padStart(2, '0')
  const keys: string[] = []
  for (let day = firstDay; day <= today + 1; day++) {
    // A day without a number has no reservations.
    const bucket = digits >>> (32 - (bits.get(layoutField(kind, day)) ?? bitsMin))
    keys.push(`{intake:${tag}}:${kind}:${day}:${bucket.toString(16)}`)
  }
  return { firstDay, keys }
}
