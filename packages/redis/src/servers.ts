import { Cluster, Command, type Redis as Server } from 'ioredis'
import { withTimeout } from '@intake/runtime'
import type { Redis } from './connect.ts'

/**
 * The hash tag of all keys except reservations and the further shards of the log queue, which have
 * tags of their own. One node of a cluster holds all keys with this tag.
 */
export const mainTag = '{intake}'

const silentMs = 1_000

/** A server that accepts writes, and hash tags whose keys it holds. */
export interface Primary {
  /** `host:port` of the server; undefined if there is only one server. */
  name: string | undefined
  tags: readonly [string, ...string[]]
  redis: Server
}

/**
 * Returns the servers that hold the keys of these hash tags, as far as the connection knows.
 * Without a cluster, that is the only server.
 *
 * @throws when a node of the cluster is lost
 */
export function primariesOf(redis: Redis, tags: readonly string[] = [mainTag]): Primary[] {
  return [...groupByNode(redis, tags)].map(([name, held]) => {
    if (!(redis instanceof Cluster)) return { name: undefined, tags: held, redis }
    const node = findNode(redis, name)
    if (node === undefined) throw new Error(`no connection to ${name || 'Redis Cluster'}`)
    return { name, tags: held, redis: node }
  })
}

/** Returns one hash tag for each server that `primariesOf` would return. */
export const tagPerPrimary = (redis: Redis, tags: readonly string[]): string[] =>
  [...groupByNode(redis, tags).values()].map(([tag]) => tag)

/** Returns the server that holds the keys of one hash tag; see `primariesOf`. */
export function primaryOf(redis: Redis, tag = mainTag): Server {
  return primariesOf(redis, [tag])[0]!.redis
}

/**
 * Resolves when a command for keys of this hash tag can be sent at once.
 *
 * @throws when there is no connection to the server of these keys
 */
export async function requireConnection(redis: Redis, tag = mainTag): Promise<void> {
  if (redis.status !== 'ready') throw new Error('not connected to Redis')
  if (!(redis instanceof Cluster)) return
  const name = nodeName(redis, tag)
  const node = findNode(redis, name)
  // Refreshes the slots. Without that, a node whose connection was lost would never be found again.
  if (node === undefined) redis.refreshSlotsCache()
  if (node?.status === 'wait') await node.connect()
  if (node?.status !== 'ready') throw new Error(`not connected to ${name || 'Redis Cluster'}`)
}

/**
 * Asks the primaries of a cluster, as far as the client knows them. Resolves to `host:port` of each
 * primary that does not respond within a second; empty while the client is not connected.
 */
export async function findSilentServers(cluster: Cluster): Promise<string[]> {
  if (cluster.status !== 'ready') return []
  const names = [...new Set(cluster.slots.flatMap(([primary]) => primary ?? []))]
  const silent = names.map(async (name) => {
    const node = findNode(cluster, name)
    if (node === undefined) return name
    return withTimeout(node.ping(), silentMs, name).then(
      () => [],
      () => name,
    )
  })
  return (await Promise.all(silent)).flat()
}

/**
 * Whether there is a connection for keys of the main hash tag. In a cluster, the client connects to
 * a node when it sends the first command to it. Before that, the result is true, too.
 */
export function isConnected(redis: Redis): boolean {
  if (redis.status !== 'ready') return false
  if (!(redis instanceof Cluster)) return true
  const status = findNode(redis, nodeName(redis, mainTag))?.status
  return status === 'ready' || status === 'wait'
}

/**
 * Groups hash tags by `host:port` of the server that holds their keys, as far as it is known; see
 * `nameOf`.
 */
export function groupByNode(
  redis: Redis,
  tags: readonly string[],
): Map<string, [string, ...string[]]> {
  const groups = new Map<string, [string, ...string[]]>()
  for (const tag of tags) {
    const name = nameOf(redis, tag)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [tag])
    else group.push(tag)
  }
  return groups
}

/**
 * Returns `host:port` of the server that holds the keys of a hash tag; empty without a cluster, and
 * while the server is not known.
 */
export const nameOf = (redis: Redis, tag: string): string =>
  redis instanceof Cluster ? nodeName(redis, tag) : ''

/** Returns the hash tag of a key; `mainTag` if the key has none. */
export const tagOf = (key: string): string => /^\{[^}]*\}/.exec(key)?.[0] ?? mainTag

/** Returns the name of a server for texts that an operator reads. */
export function titleOf({ name, isReplica }: { name: string | undefined; isReplica: boolean }) {
  if (name === undefined) return 'Redis'
  return isReplica ? `the replica ${name}` : `Redis ${name}`
}

/**
 * Returns `host:port` of the servers that hold the keys of a hash tag, the primary first, as far as
 * the cluster knows.
 */
export const namesOf = (cluster: Cluster, tag: string): readonly string[] =>
  cluster.slots[new Command('get', [tag]).getSlot()] ?? []

const nodeName = (cluster: Cluster, tag: string): string => namesOf(cluster, tag)[0] ?? ''

const findNode = (cluster: Cluster, name: string): Server | undefined =>
  cluster.nodes('all').find(({ options: { host, port } }) => `${host ?? ''}:${port ?? ''}` === name)
