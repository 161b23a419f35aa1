import { withRedis as withConnection, type Redis } from '@intake/redis'
import { TimeoutError } from '@intake/runtime'
import { findEndpoint } from './endpoints.ts'
import { storeEntries } from './journal.ts'
import { redisFailure } from './redis-failure.ts'

const timeoutMs = 10_000

/** Rejects if connecting and `work` together take longer than `timeoutMs`. */
export async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const url = await findEndpoint('REDIS_URL')
  let failure: unknown
  const watched = (redis: Redis) =>
    work(redis).catch((error: unknown) => {
      failure = error
      throw error
    })
  try {
    return await withConnection({ url, timeoutMs }, watched)
  } catch (error) {
    // What `work` did not throw is the error of the connection.
    throw error === failure || error instanceof TimeoutError ? error : redisFailure(error)
  }
}

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
