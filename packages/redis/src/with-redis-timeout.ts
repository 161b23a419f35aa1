import { Cluster } from 'ioredis'
import { TimeoutError, withTimeout } from '@intake/runtime'
import type { Redis } from './connect.ts'
import { findSilentServers } from './cluster/nodes.ts'

/**
 * Like `withTimeout` for commands of Redis. For a cluster, the error names the primaries that do
 * not respond.
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
