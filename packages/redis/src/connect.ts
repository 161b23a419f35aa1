import { Cluster, Redis as Server, ReplyError } from 'ioredis'
import type { ClusterOptions, RedisOptions } from 'ioredis'
import { createSecret, type Secret } from '@intake/runtime'
import { credentialsOf, parseRedisUrl, type RedisAddress } from './redis-url.ts'
import { followCredentials } from './follow-credentials.ts'
import { replyCode } from './replies.ts'
import { causeOf, reportLostPrimary } from './cluster/errors.ts'

export { ReplyError }

/** A connection to one server, or to the servers of a Redis Cluster. */
export type Redis = Server | Cluster
export type { Server }

/**
 * How a connection behaves while Redis is unavailable.
 * - `producer`: a command fails at once, and is never sent again if it may have been executed. The
 *   caller sets the deadline and decides what to repeat.
 * - `consumer`: a command waits without limit, as BullMQ requires of a worker.
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
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
    // The socket is silent during BullMQ's blocking read of 5 s, so this timeout is longer.
    socketTimeout: 15_000,
  },
} satisfies Record<RedisRole, RedisOptions>

const clusterRoles = {
  // With a delay of 0, a command is not repeated if it failed because of a failover, or because the
  // cluster is down. After MOVED, ASK and TRYAGAIN it is repeated, because these replies mean that
  // it was not executed.
  producer: { maxRedirections: 8, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 },
  consumer: { maxRedirections: Infinity, retryDelayOnFailover: 200, retryDelayOnClusterDown: 200 },
} satisfies Record<RedisRole, ClusterOptions>

/**
 * Error codes of a server that is not the primary, or is being demoted. (`UNBLOCKED` ends a
 * blocking read on a server that is being demoted.) After a failover, the same address or the
 * sentinels lead to the new primary, but only with a new connection.
 */
const notPrimary = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED'])
/**
 * For this time after an error of `notPrimary` has closed a connection, further ones do not close
 * it. All commands in flight get such an error, and each would otherwise close the connection.
 */
const leavePauseMs = 100
const connectTimeoutMs = 5_000

const retryDelay = (attempt: number) => Math.min(50 * 2 ** attempt, 2_000)

/**
 * Opens a connection that reconnects until `disconnect()` or `quit()` is called. It also reconnects
 * when the server has become a replica. The replica refuses the next write: that command fails,
 * nothing is written, and the connection is opened again.
 *
 * @param options.url in any form that `parseRedisUrl` accepts; the user and the password in a
 * `Secret` may change
 * @param options.onError called for every connection error; without it an error would crash the
 * process
 * @throws {RedisUrlError}
 */
export function connectRedis(options: {
  url: string | Secret
  role: RedisRole
  onError: (error: Error) => void
}): Redis {
  const { role, onError } = options
  const url = typeof options.url === 'string' ? createSecret(options.url) : options.url
  const address = parseRedisUrl(url.current())
  const redis =
    address.topology === 'cluster'
      ? connectCluster(address, role, onError)
      : connectServer(address, role, onError)
  return followCredentials(redis, { url, onError })
}

function connectServer(
  address: Exclude<RedisAddress, { topology: 'cluster' }>,
  role: RedisRole,
  onError: (error: Error) => void,
): Server {
  const redis =
    address.topology === 'single'
      ? new Server(address.url, serverOptions(role))
      : new Server({ ...serverOptions(role), ...sentinelOptions(address) })
  redis.on('error', onError)
  return redis
}

function serverOptions(role: RedisRole) {
  let leftAt = -Infinity
  function leaves(error: Error): boolean {
    const now = performance.now()
    if (!notPrimary.has(replyCode(error)) || now - leftAt < leavePauseMs) return false
    leftAt = now
    return true
  }
  return {
    ...roles[role],
    ...socketOptions,
    retryStrategy: retryDelay,
    reconnectOnError: leaves,
  } satisfies RedisOptions
}

const socketOptions = {
  connectTimeout: connectTimeoutMs,
  keepAlive: 10_000,
  // Limits the wait after Redis reports that it loads its data. The default of ioredis is 10 s.
  maxLoadingRetryTime: 1_000,
} satisfies RedisOptions

function sentinelOptions(address: Extract<RedisAddress, { topology: 'sentinel' }>) {
  const { sentinels, name, tls, sentinel } = address
  return {
    sentinels,
    name,
    ...credentialsOf(address),
    ...(sentinel.username !== undefined && { sentinelUsername: sentinel.username }),
    ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
    ...(tls && { tls: {}, enableTLSForSentinelMode: true, sentinelTLS: {} }),
    sentinelRetryStrategy: retryDelay,
    sentinelReconnectStrategy: retryDelay,
    sentinelCommandTimeout: connectTimeoutMs,
    // If ioredis 6.0.0 detects a failover while it connects, it closes the connection and never
    // opens it again. So its detector is off.
    failoverDetector: false,
  } satisfies RedisOptions
}

/**
 * Connects to a cluster. ioredis forgets a node that it has lost. The next command or refresh of
 * the slots finds the node again. When all nodes are lost, ioredis looks up the hosts in the URL
 * again.
 */
function connectCluster(
  address: Extract<RedisAddress, { topology: 'cluster' }>,
  role: RedisRole,
  onError: (error: Error) => void,
): Cluster {
  const { nodes, tls } = address
  const { enableOfflineQueue, ...ofEachNode } = roles[role]
  const cluster = new Cluster(nodes, {
    ...clusterRoles[role],
    enableOfflineQueue,
    retryDelayOnTryAgain: 100,
    // For a moment after a failover, two nodes may redirect commands to each other. So the client
    // waits before it follows a redirection.
    retryDelayOnMoved: 20,
    slotsRefreshInterval: 2_000,
    slotsRefreshTimeout: 2_000,
    clusterRetryStrategy: retryDelay,
    // Keeps the host's name instead of its address, because its certificate contains the name.
    dnsLookup: (host, done) => done(null, host),
    redisOptions: {
      ...ofEachNode,
      ...socketOptions,
      ...credentialsOf(address),
      ...(tls && { tls: {} }),
    },
  })
  // If `disconnect` is called during a refresh of the slots, ioredis 6.0.0 starts its refresh timer
  // again, which keeps the process alive. So after the end a refresh does nothing.
  cluster.once('end', () => (cluster.refreshSlotsCache = () => {}))
  reportLostPrimary(cluster)
  cluster.on('error', (error: Error) => onError(causeOf(error)))
  cluster.on('node error', onError)
  return cluster
}
