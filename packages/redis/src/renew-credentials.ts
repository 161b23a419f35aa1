import { Cluster, type Redis as Server } from 'ioredis'
import { withTimeout, type Secret } from '@intake/runtime'
import { credentialsOf, parseRedisUrl } from './redis-url.ts'

const timeoutMs = 10_000

/**
 * Makes a connection, and those that BullMQ duplicates from it, follow a URL whose user and password change.
 * An open connection authenticates again between two commands, so none fails. When Redis refuses the new
 * ones, it keeps its old user, and the next connection tries again.
 *
 * @param options.onError called when Redis refuses them, or does not respond
 */
export function renewCredentials<Connection extends Server | Cluster>(
  redis: Connection,
  options: { url: Secret; onError: (error: Error) => void },
): Connection {
  const { url, onError } = options
  const stop = url.onChange(() => {
    const { username, password } = credentialsOf(parseRedisUrl(url.current()))
    // The next connections use them.
    const shared = redis instanceof Cluster ? (redis.options.redisOptions ??= {}) : redis.options
    Object.assign(shared, { username, password })
    const servers = redis instanceof Cluster ? redis.nodes('all') : [redis]
    for (const server of servers) {
      Object.assign(server.options, { username, password })
      if (server.status !== 'ready' || password === undefined) continue
      const renewal = username ? server.auth(username, password) : server.auth(password)
      withTimeout(renewal, timeoutMs, 'AUTH').catch(onError)
    }
  })
  redis.once('end', stop)
  const duplicate = redis.duplicate.bind(redis) as (...args: unknown[]) => Connection
  redis.duplicate = ((...args: unknown[]) =>
    renewCredentials(duplicate(...args), options)) as Connection['duplicate']
  return redis
}
