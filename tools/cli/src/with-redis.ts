import { withRedis as withConnection, type Redis } from '@intake/redis'
import { findEndpoint } from './endpoints.ts'
import { storeEntries } from './journal.ts'

const timeoutMs = 10_000

/** Rejects if connecting and `work` together take longer than `timeoutMs`. */
export const withRedis = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> =>
  withConnection({ url: await findEndpoint('REDIS_URL'), timeoutMs }, work)

/**
 * Stores the entry in the journal as soon as ClickHouse responds. Loads `confirmChange` first,
 * because the connection has a timeout.
 */
export async function changeRedis<T>(change: (redis: Redis) => Promise<T>): Promise<T> {
  const { confirmChange } = await import('./confirm-change.ts')
  return withRedis(async (redis) => {
    const result = await confirmChange(redis, () => change(redis))
    await storeEntries(redis)
    return result
  })
}
