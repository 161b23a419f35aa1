import { connectRedis, type Redis } from './connect.ts'
import { withRedisTimeout } from './with-redis-timeout.ts'

/**
 * Opens a connection to Redis, runs `work` with it, and closes it when `work` has ended or
 * `timeoutMs` have passed.
 */
export async function withRedis<T>(
  { url, timeoutMs }: { url: string; timeoutMs: number },
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  let failure: Error | undefined
  const redis = connectRedis({ url, role: 'consumer', onError: (error) => (failure = error) })
  try {
    return await withRedisTimeout(redis, work(redis), timeoutMs)
  } catch (error) {
    // If there is no connection, the connection's error says more than the timeout.
    throw redis.status === 'ready' ? error : (failure ?? error)
  } finally {
    redis.disconnect()
  }
}
