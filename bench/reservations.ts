import { primaryOf, type Redis } from '@intake/redis'

/** The memory that idempotency keys of logs take in Redis. */
export interface ReservationKeys {
  buckets: number
  reservations: number
  /** Of the buckets, by `MEMORY USAGE`. */
  bytes: number
  /** Hashes that count reservations by API key. */
  counters: number
}

const bucketPattern = '{intake:*}:logs:*'
const counterPattern = '{intake}:reservations:used:*'

export async function readReservations(redis: Redis): Promise<ReservationKeys> {
  const found: ReservationKeys = { buckets: 0, reservations: 0, bytes: 0, counters: 0 }
  for await (const keys of primaryOf(redis).scanStream({ match: bucketPattern, count: 1_000 })) {
    const names = keys as string[]
    found.buckets += names.length
    for (const length of await Promise.all(names.map((key) => redis.hlen(key)))) {
      found.reservations += length
    }
    for (const bytes of await Promise.all(names.map((key) => redis.memory('USAGE', key)))) {
      found.bytes += bytes ?? 0
    }
  }
  for await (const keys of primaryOf(redis).scanStream({ match: counterPattern, count: 1_000 })) {
    found.counters += (keys as string[]).length
  }
  return found
}

/** In bytes: now, and the maximum since Redis started. */
export async function readMemory(redis: Redis): Promise<{ used: number; peak: number }> {
  const info = await redis.info('memory')
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1])
  return { used: field('used_memory'), peak: field('used_memory_peak') }
}
