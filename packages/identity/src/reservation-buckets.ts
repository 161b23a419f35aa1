import { limits, type RecordKind } from '@intake/contract'

/** Days since 1970, by the clock of Redis. */
export type Day = number

/**
 * The maximum number of fields in a hash of reservations. Redis stores a small hash compactly (as a
 * listpack), with 38 bytes per reservation. In a larger hash each reservation takes three times as
 * much. A hash is small up to `hash-max-listpack-entries` fields; Redis's default is 512.
 */
export const bucketFieldsMax = 96

/**
 * The Redis hashes of a day are arranged in levels; each level has 2^4 times as many hashes as the
 * previous one. A reservation goes to the first level whose hash is not full. Hashes therefore
 * remain small even on a day with many reservations, and a day with few reservations has few
 * hashes.
 */
const levelBits = 4
/**
 * The first 8 bits of an idempotency key's SHA-256 select the slot of a Redis Cluster. All Redis
 * hashes that may contain this key are in that one slot.
 */
const firstLevelBits = 8
const bucketTag = (digits: string) => `{intake:${digits}}`
/** The hash tags of all Redis keys that contain reservations. */
export const reservationTags: readonly string[] = Array.from(
  { length: 2 ** firstLevelBits },
  (_, index) => bucketTag(index.toString(16).padStart(firstLevelBits / 4, '0')),
)
/** The last level has 2^24 hashes, enough for 1.6 billion reservations a day. */
export const levelsMax = 5

export interface Buckets {
  firstDay: Day
  levels: number
  /** The keys of the hashes, by day from `firstDay` to tomorrow, and by level within a day. */
  keys: string[]
}

/** @param options.keyHash the key's SHA-256, or at least its first 32 bits */
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
