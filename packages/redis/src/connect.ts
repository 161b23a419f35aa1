import { Redis, ReplyError } from 'ioredis'
import type { RedisOptions } from 'ioredis'
import { replyCode } from './reply-code.ts'

export { ReplyError, type Redis }

/**
 * - `producer`: fails at once while Redis is away and never re-sends on its own; the caller owns
 *   the deadline and decides what to repeat.
 * - `consumer`: waits for Redis for as long as it takes (what BullMQ requires of a worker).
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
    // Longer than the 5 s of BullMQ's blocking read, or the connection would never settle.
    socketTimeout: 15_000,
  },
} satisfies Record<RedisRole, RedisOptions>

/**
 * Replies of a server that is not the primary, or is just being demoted (`UNBLOCKED` ends a blocking
 * read then). After a failover the same address leads to the new primary, but only for a new
 * connection.
 */
const notPrimary = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED'])
/** All commands in flight get such a reply; each would end the same connection once more. */
const leavePauseMs = 100

/**
 * Opens a connection that reconnects until `disconnect()` or `quit()`, also from a server that has
 * become a replica. The command that found this out still fails; nothing was written.
 *
 * @param options.url `redis://` or `rediss://`, credentials included
 * @param options.onError told of every connection error; without it an error would end the process
 */
export function connectRedis(options: {
  url: string
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
  const redis = new Redis(options.url, {
    ...roles[options.role],
    connectTimeout: 5_000,
    keepAlive: 10_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 2_000),
    reconnectOnError: leaves,
    // The default waits up to 10 s after Redis has loaded its data.
    maxLoadingRetryTime: 1_000,
  })
  redis.on('error', options.onError)
  return redis
}
