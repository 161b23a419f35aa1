import { type Cluster, Command, type Redis as Server } from 'ioredis'
import { withTimeout } from '@intake/runtime'

const silentMs = 1_000

/** `host:port` of the servers with the keys of a hash tag, the primary first, as far as known. */
export const namesOf = (cluster: Cluster, tag: string): readonly string[] =>
  cluster.slots[new Command('get', [tag]).getSlot()] ?? []

/** Returns `host:port` of the primary of a hash tag; empty while it is not known. */
export const nodeName = (cluster: Cluster, tag: string): string => namesOf(cluster, tag)[0] ?? ''

export function groupByNode(
  cluster: Cluster,
  tags: readonly string[],
): Map<string, [string, ...string[]]> {
  const groups = new Map<string, [string, ...string[]]>()
  for (const tag of tags) {
    const name = nodeName(cluster, tag)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [tag])
    else group.push(tag)
  }
  return groups
}

export const findNode = (cluster: Cluster, name: string): Server | undefined =>
  cluster.nodes('all').find(({ options: { host, port } }) => `${host ?? ''}:${port ?? ''}` === name)

/** @throws when there is no connection to the node of these keys */
export async function requireNode(cluster: Cluster, tag: string): Promise<void> {
  const name = nodeName(cluster, tag)
  const node = findNode(cluster, name)
  // Refreshes the slots. Without that, a node whose connection was lost would never be found again.
  if (node === undefined) cluster.refreshSlotsCache()
  if (node?.status === 'wait') await node.connect()
  if (node?.status !== 'ready') throw new Error(`not connected to ${name || 'Redis Cluster'}`)
}

/** Returns `host:port` of the known primaries that do not respond within a second. */
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
