import { connectRedis, withRedisTimeout, type Redis } from '@intake/redis'
import { findEndpoint } from './endpoints.ts'

const timeoutMs = 10_000

/** Runs `work`, which takes seconds at most, with a connection to Redis, and closes it. */
export async function withRedis<T>(work: (redis: Redis) => Promise<T>): Promise<T> {
  const failures: Error[] = []
  const redis = connectRedis({
    url: findEndpoint('REDIS_URL'),
    role: 'consumer',
    onError: (error) => failures.push(error),
  })
  try {
    return await withRedisTimeout(redis, work(redis), timeoutMs)
  } catch (error) {
    // If there is no connection, its errors say more than the timeout.
    throw redis.status === 'ready' ? error : (failures.at(-1) ?? error)
  } finally {
    redis.disconnect()
  }
}
