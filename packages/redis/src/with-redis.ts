import { connectRedis, type Redis } from './connect.ts'
import { withRedisTimeout } from './with-redis-timeout.ts'

/** Runs `work`, which takes seconds at most, with a connection to Redis, and closes it. */
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
