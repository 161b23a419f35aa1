import { limits, type RecordKind } from '@intake/contract'

/** Days since 1970, by the clock of Redis. */
export type Day = number

/**
 * The maximum number of fields in a hash with reservations. Redis stores a small hash compactly (a
 * listpack: 38 bytes per reservation); a larger one takes three times as much. The limit in Redis's
 * own redis.conf is 128 fields.
 */
export const bucketFieldsMax = 96

/**
 * The hashes of a day are arranged in levels; each level has 2^4 times as many hashes as the
 * previous one. A reservation goes to the first level whose hash is not full. Hashes therefore
 * remain small even on a day with many reservations, and a day with few reservations has few
 * hashes.
 */
const levelBits = 4
/**
 * All hashes for a key are in one slot of a Redis Cluster, selected by the first 8 bits of the
 * key's hash.
 */
const firstLevelBits = 8
const bucketTag = (digits: string) => `{intake:${digits}}`
/** The hash tags of all keys of reservations. */
export const reservationTags: readonly string[] = Array.from(
  { length: 2 ** firstLevelBits },
  (_, index) => bucketTag(index.toString(16).padStart(firstLevelBits / 4, '0')),
)
/** The last level has 2^24 hashes, enough for 1.6 billion reservations a day. */
export const levelsMax = 5

/** The hashes that may contain a reservation. */
export interface Buckets {
  firstDay: Day
  /** Number of levels of each day. */
  levels: number
  /** Ordered by day, from the first day to tomorrow, and by level within a day. */
  keys: string[]
}

/**
 * The hashes that may contain the reservation of a key.
 *
 * @param options.keyHash at least 32 bits
 */
export function bucketsOf(options: {
  kind: RecordKind
  keyHash: Buffer
  today: Day
  levels: number
}): Buckets {
  const { kind, keyHash, today, levels } = options
  const firstDay = today - limits.keyDays[kind]
  const digits = keyHash.subarray(0, 4).toString('hex')
  const tag = `${bucketTag(digits.slice(0, firstLevelBits / 4))}:${kind}`
  const keys: string[] = []
  for (let day = firstDay; day <= today + 1; day++) {
    for (let level = 0; level < levels; level++) {
      keys.push(`${tag}:${day}:${digits.slice(0, (firstLevelBits + level * levelBits) / 4)}`)
    }
  }
  return { firstDay, levels, keys }
}
