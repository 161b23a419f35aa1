import type { Redis } from '@intake/redis'

/** What the daily budget of an API key limits. */
export type DayCount = 'events' | 'bytes'

/** Returns the Redis key of a count that all gateways share. */
export const sharedCountKey = (name: string): string => `{intake}:rate:${name}`

/**
 * Returns the name of the count for an API key and a day (UTC).
 *
 * @param atMs any time of the day, in milliseconds since 1970
 */
export const dayCountName = (apiKeyId: string, atMs: number, count: DayCount): string =>
  `${apiKeyId}:${new Date(atMs).toISOString().slice(0, 10)}:${count}`

/**
 * Resolves to what a key with a budget has used on the day (UTC) of `atMs`, summed over all
 * gateways. Each gateway adds its counts to the sums in Redis twice a second.
 */
export async function readUsedToday(
  redis: Redis,
  apiKeyId: string,
  atMs: number,
): Promise<Record<DayCount, number>> {
  const keyOf = (count: DayCount) => sharedCountKey(dayCountName(apiKeyId, atMs, count))
  const [events, bytes] = await redis.mget(keyOf('events'), keyOf('bytes'))
  return { events: Number(events ?? 0), bytes: Number(bytes ?? 0) }
}
