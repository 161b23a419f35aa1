import { Cluster } from 'ioredis'
import { TimeoutError, withTimeout } from '@intake/runtime'
import { findSilentServers } from './cluster/nodes.ts'
import { connectRedis, type Redis } from './connect.ts'

/** Runs `work` with a connection of its own, for at most `timeoutMs`. */
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

/**
 * Like `withTimeout`. For a cluster, the error names the primaries that do not respond.
 *
 * @throws {TimeoutError}
 */
export async function withRedisTimeout<T>(redis: Redis, work: Promise<T>, ms: number): Promise<T> {
  try {
    return await withTimeout(work, ms, 'Redis')
  } catch (error) {
    if (!(error instanceof TimeoutError) || !(redis instanceof Cluster)) throw error
    const silent = await findSilentServers(redis)
    if (silent.length === 0) throw error
    throw new TimeoutError(`${error.message}: no connection to ${silent.join(', ')}`)
  }
}
