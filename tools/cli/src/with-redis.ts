import { withRedis as withConnection, type Redis } from '@intake/redis'
import { findEndpoint } from './endpoints.ts'

const timeoutMs = 10_000

/**
 * Connects to Redis, runs `work` and closes the connection. Rejects if connecting and `work`
 * together take longer than `timeoutMs`.
 */
export const withRedis = async <T>(work: (redis: Redis) => Promise<T>): Promise<T> =>
  withConnection({ url: await findEndpoint('REDIS_URL'), timeoutMs }, work)

/**
 * Makes a change in Redis and confirms it, like `confirmChange`. Loads the code of `confirmChange`
 * before it connects, because the connection has a timeout.
 */
export async function changeRedis<T>(change: (redis: Redis) => Promise<T>): Promise<T> {
  const { confirmChange } = await import('./confirm-change.ts')
  return withRedis((redis) => confirmChange(redis, () => change(redis)))
}
