import { Cluster, Redis as Server, ReplyError } from 'ioredis'
import type { ClusterOptions, RedisOptions } from 'ioredis'
import { createSecret, type Secret } from '@intake/runtime'
import { credentialsOf, parseRedisUrl, type RedisAddress } from './redis-url.ts'
import { followCredentials } from './follow-credentials.ts'
import { replyCode } from './replies.ts'
import { causeOf, reportLostPrimary } from './cluster/errors.ts'

export { ReplyError }

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
  // With a delay of 0, a command is not repeated after a failover or while the cluster is down.
  // After MOVED, ASK and TRYAGAIN it is, because it was not executed.
  producer: { maxRedirections: 8, retryDelayOnFailover: 0, retryDelayOnClusterDown: 0 },
  consumer: { maxRedirections: Infinity, retryDelayOnFailover: 200, retryDelayOnClusterDown: 200 },
} satisfies Record<RedisRole, ClusterOptions>

/**
 * Error codes of a server that is no primary, or is being demoted (`UNBLOCKED` ends a blocking
 * read). The same address or the sentinels lead to the new primary, but only with a new connection.
 */
const notPrimary = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED'])
/** All commands in flight get such an error, and only the first may close the connection. */
const leavePauseMs = 100
const connectTimeoutMs = 5_000

const retryDelay = (attempt: number) => Math.min(50 * 2 ** attempt, 2_000)

/**
 * Opens a connection that reconnects until `disconnect()` or `quit()`, also when the server has
 * become a replica: it refuses the next write, which fails, and the connection is opened again.
 *
 * @param options.url as `parseRedisUrl` accepts; user and password in a `Secret` may change
 * @param options.onError called for every connection error, which would otherwise end the process
 * @throws {RangeError}
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
    // If ioredis 6.0.0 detects a failover while it connects, it closes and never opens again.
    failoverDetector: false,
  } satisfies RedisOptions
}

/**
 * ioredis forgets a node that it has lost; the next command or refresh of the slots finds it. When
 * all are lost, it looks up the hosts in the URL again.
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
    // For a moment after a failover, two nodes may redirect commands to each other.
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
  // Otherwise a refresh that `disconnect` interrupts starts the timer again, and the process lives.
  cluster.once('end', () => (cluster.refreshSlotsCache = () => {}))
  reportLostPrimary(cluster)
  cluster.on('error', (error: Error) => onError(causeOf(error)))
  cluster.on('node error', onError)
  return cluster
}
