import { Cluster, type Redis as Server, type RedisOptions } from 'ioredis'
import { withTimeout, type Secret } from '@intake/runtime'
import { credentialsOf, parseRedisUrl } from './redis-url.ts'

const timeoutMs = 10_000

/**
 * Makes a connection, and those that BullMQ duplicates from it, use the user and password of a URL,
 * also after they change. An open connection authenticates again between two commands, so no
 * command fails. If Redis refuses, it keeps its old user, and new connections use the new one.
 *
 * @param options.onError called when Redis refuses the credentials, or does not respond
 */
export function followCredentials<Connection extends Server | Cluster>(
  redis: Connection,
  options: { url: Secret; onError: (error: Error) => void },
): Connection {
  const { url, onError } = options

  let known: { username?: string | undefined; password?: string | undefined } = {}

  /**
   * Makes new connections use the current credentials, or the previous ones if the URL cannot be
   * parsed, which is reported. Must not throw, because event listeners call it.
   */
  function assignCurrent(target: RedisOptions): void {
    try {
      const { username, password } = credentialsOf(parseRedisUrl(url.current()))
      // Replaces both together. If the new URL has no user, the previous user is removed.
      known = { username, password }
    } catch (error) {
      onError(error as Error)
    }
    Object.assign(target, known)
  }

  function renew(server: Server): void {
    // New connections use these options.
    assignCurrent(server.options)
    const { username, password } = server.options
    if (server.status !== 'ready' || !password) return
    const renewal = username ? server.auth(username, password) : server.auth(password)
    withTimeout(renewal, timeoutMs, 'AUTH').catch(onError)
  }

  const stop = url.onChange(() => {
    if (!(redis instanceof Cluster)) return renew(redis)
    assignCurrent((redis.options.redisOptions ??= {}))
    for (const node of redis.nodes('all')) renew(node)
  })
  // A cluster client connects to a node later, with a copy of the original options.
  if (redis instanceof Cluster) {
    redis.on('+node', (node: Server) => assignCurrent(node.options))
  }
  redis.once('end', stop)
  const duplicate = redis.duplicate.bind(redis) as (...args: unknown[]) => Connection
  redis.duplicate = ((...args: unknown[]) =>
    followCredentials(duplicate(...args), options)) as Connection['duplicate']
  return redis
}
