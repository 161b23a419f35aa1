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
  const current = () => credentialsOf(parseRedisUrl(url.current()))

  function renew(server: Server): void {
    const { username, password } = current()
    // The next connection uses them.
    Object.assign(server.options, { username, password })
    if (server.status !== 'ready' || password === undefined) return
    const renewal = username ? server.auth(username, password) : server.auth(password)
    withTimeout(renewal, timeoutMs, 'AUTH').catch(onError)
  }

  const stop = url.onChange(() => {
    if (!(redis instanceof Cluster)) return renew(redis)
    Object.assign((redis.options.redisOptions ??= {}), current())
    for (const node of redis.nodes('all')) renew(node)
  })
  // A cluster gives its nodes the options that it began with. It connects them later than this.
  if (redis instanceof Cluster) {
    redis.on('+node', (node: Server) => Object.assign(node.options, current()))
  }
  redis.once('end', stop)
  const duplicate = redis.duplicate.bind(redis) as (...args: unknown[]) => Connection
  redis.duplicate = ((...args: unknown[]) =>
    renewCredentials(duplicate(...args), options)) as Connection['duplicate']
  return redis
}
