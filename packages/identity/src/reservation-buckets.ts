import { limits, type RecordKind } from '@intake/contract'

/** Days since 1970, by the clock of Redis. */
export type Day = number

/**
 * Redis stores hashes up to this size compactly (a listpack: 38 bytes per reservation); larger ones
 * take three times as much. Redis can be configured to draw that line at 128 fields, as its own
 * redis.conf does.
 */
export const bucketFieldsMax = 96

/**
 * The hashes of a day are arranged in levels; each level has 2^4 times as many hashes as the previous
 * one. A reservation goes to the first level whose hash is not full. So hashes stay small however many
 * reservations a day has, and a day with few reservations has few hashes.
 */
const levelBits = 4
/** All hashes of a key share a Redis Cluster slot: that of the first 8 bits of the key's hash. */
const firstLevelBits = 8
const bucketTag = (digits: string) => `{intake:${digits}}`
/** The hash tags of all keys of reservations. */
export const reservationTags: readonly string[] = Array.from(
  { length: 2 ** firstLevelBits },
  (_, index) => bucketTag(index.toString(16).padStart(firstLevelBits / 4, '0')),
)
/** The last level has 2^24 hashes: for 1.6 billion reservations a day. */
export const levelsMax = 5

/** The hashes that may contain a reservation. */
export interface Buckets {
  firstDay: Day
  /** Number of levels of each day. */
  levels: number
  /** Ordered by day, from the first one to tomorrow, and by level within a day. */
  keys: string[]
}

/** @param keyHash at least 32 bits */
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
