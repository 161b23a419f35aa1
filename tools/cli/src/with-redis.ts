import { connectRedis, withRedisTimeout, type Redis } from '@intake/redis'
import { findEndpoint } from './endpoints.ts'
import { redisFailure } from './redis-failure.ts'

const timeoutMs = 10_000

/** Opens a connection whose commands wait until it is ready; `ask` limits that wait. */
export async function openRedis(limitMs = timeoutMs): Promise<{
  redis: Redis
  /** Rejects after ten seconds, or `limitMs`. Without a connection, its error says more than the timeout. */
  ask: <T>(command: Promise<T>) => Promise<T>
}> {
  let failure: Error | undefined
  const url = await findEndpoint('REDIS_URL')
  const redis = connectRedis({ url, role: 'consumer', onError: (error) => (failure = error) })
  return {
    redis,
    ask: (command) =>
      withRedisTimeout(redis, command, limitMs).catch((error: unknown) => {
        throw redis.status === 'ready' || failure === undefined ? error : redisFailure(failure)
      }),
  }
}

/** Rejects if connecting and `work` together take longer than ten seconds, or `limitMs`. */
export async function withRedis<T>(
  work: (redis: Redis) => Promise<T>,
  limitMs?: number,
): Promise<T> {
  const { redis, ask } = await openRedis(limitMs)
  try {
    return await ask(work(redis))
  } finally {
    redis.disconnect()
  }
}

/** Loads `confirmChange` first, because the connection has a timeout. */
export async function changeRedis<T>(change: (redis: Redis) => Promise<T>): Promise<T> {
  const { confirmChange } = await import('./confirm-change.ts')
  return withRedis((redis) => confirmChange(redis, () => change(redis)))
}
