import { Redis, ReplyError } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { createSecret, type Secret } from '@intake/runtime'
import { renewCredentials } from './renew-credentials.ts'
import { replyCode } from './reply-code.ts'

export { ReplyError, type Redis }

/**
 * - `producer`: fails at once while Redis is unavailable and never resends commands; the caller sets
 *   the deadline and decides what to repeat.
 * - `consumer`: waits for Redis without limit, as BullMQ requires of a worker.
 */
export type RedisRole = 'producer' | 'consumer'

const roles = {
  producer: {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    commandTimeout: 5_000,
    socketTimeout: 5_000,
  },
  consumer: {
    maxRetriesPerRequest: null,
    // Longer than the 5 s of BullMQ's blocking read; otherwise the connection would never become
    // stable.
    socketTimeout: 15_000,
  },
} satisfies Record<RedisRole, RedisOptions>

/**
 * Error codes of a server that is not the primary, or is just being demoted (`UNBLOCKED` then ends a
 * blocking read). After a failover the same address leads to the new primary, but only for a new
 * connection.
 */
const notPrimary = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED'])
/**
 * All commands in flight get such an error; without the pause each would close the connection again.
 */
const leavePauseMs = 100

/**
 * Opens a connection that reconnects until `disconnect()` or `quit()`, also when the server has become
 * a replica. The command that detects this fails; nothing was written.
 *
 * @param options.url `redis://` or `rediss://`, with credentials; those of a `Secret` may change
 * @param options.onError called for every connection error; without it an error would crash the process
 */
export function connectRedis(options: {
  url: string | Secret
  role: RedisRole
  onError: (error: Error) => void
}): Redis {
  let leftAt = -Infinity
  function leaves(error: Error): boolean {
    const now = performance.now()
    if (!notPrimary.has(replyCode(error)) || now - leftAt < leavePauseMs) return false
    leftAt = now
    return true
  }
  const url = typeof options.url === 'string' ? createSecret(options.url) : options.url
  const redis = new Redis(url.current(), {
    ...roles[options.role],
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
    reconnectOnError: leaves,
    // By default it waits up to 10 s after Redis has loaded its data.
    maxLoadingRetryTime: 1_000,
  })
  redis.on('error', options.onError)
  return renewCredentials(redis, { url, onError: options.onError })
}
