import { Cluster, type Redis as Server } from 'ioredis'
import { findNode, groupByNode, nodeName, requireNode } from './cluster/nodes.ts'
import type { Redis } from './connect.ts'

/**
 * The hash tag of all keys except reservations and further shards of the log queue; one node of a
 * cluster has them.
 */
export const mainTag = '{intake}'

/** A server that accepts writes, and hash tags whose keys it holds. */
export interface Primary {
  /** `host:port` of the server; undefined if there is only one server. */
  name: string | undefined
  tags: readonly [string, ...string[]]
  redis: Server
}

/**
 * The server with the keys of a hash tag, as far as known; without a cluster, the only one.
 *
 * @throws when a node of the cluster is lost
 */
export function primaryOf(redis: Redis, tag = mainTag): Server {
  if (!(redis instanceof Cluster)) return redis
  const name = nodeName(redis, tag)
  const node = findNode(redis, name)
  if (node === undefined) throw new Error(`no connection to ${name || 'Redis Cluster'}`)
  return node
}

/** Returns the servers that hold the keys of these hash tags; see `primaryOf`. */
export function primariesOf(redis: Redis, tags: readonly string[] = [mainTag]): Primary[] {
  if (!(redis instanceof Cluster)) {
    const [first, ...others] = tags
    return first === undefined ? [] : [{ name: undefined, tags: [first, ...others], redis }]
  }
  return [...groupByNode(redis, tags)].map(([name, held]) => ({
    name,
    tags: held,
    redis: primaryOf(redis, held[0]),
  }))
}

export const tagPerPrimary = (redis: Redis, tags: readonly string[]): string[] =>
  redis instanceof Cluster
    ? [...groupByNode(redis, tags).values()].map(([tag]) => tag)
    : tags.slice(0, 1)

/** @throws when there is no connection to the server of these keys */
export async function requireConnection(redis: Redis, tag = mainTag): Promise<void> {
  if (redis.status !== 'ready') throw new Error('not connected to Redis')
  if (redis instanceof Cluster) await requireNode(redis, tag)
}

/**
 * Whether keys of the main hash tag can be reached. A cluster client connects to a node with its
 * first command; before that, too.
 */
export function isConnected(redis: Redis): boolean {
  if (redis.status !== 'ready') return false
  if (!(redis instanceof Cluster)) return true
  const status = findNode(redis, nodeName(redis, mainTag))?.status
  return status === 'ready' || status === 'wait'
}

/** `host:port` of the server of a hash tag; empty without a cluster, and while not known. */
export const nameOf = (redis: Redis, tag: string): string =>
  redis instanceof Cluster ? nodeName(redis, tag) : ''

/** `mainTag` if the key has none. */
export const tagOf = (key: string): string => /^\{[^}]*\}/.exec(key)?.[0] ?? mainTag

export function titleOf({ name, isReplica }: { name: string | undefined; isReplica: boolean }) {
  if (name === undefined) return 'Redis'
  return isReplica ? `the replica ${name}` : `Redis ${name}`
}
