import { startPolling } from '@intake/runtime'
import type { Cluster } from 'ioredis'
import type { Server } from '../connect.ts'
import type { PollOptions, RedisPoll } from '../poll-state.ts'
import { PolledServer } from '../polled-server.ts'
import { mainTag } from '../servers.ts'
import { lostItsData, worstOf, type RedisState } from '../state.ts'
import { groupByNode, nodeName } from './nodes.ts'

/**
 * Polls the servers of a cluster that hold keys of `{intake}` or of `options.tags`, like
 * `pollRedisState`. Reads the configuration also when the keys have moved to another server. A
 * server that does not respond does not delay the others.
 */
export function pollCluster(redis: Cluster, options: PollOptions): RedisPoll {
  const { tags = [], intervalMs, onError } = options
  /** The server that now holds the keys of `{intake}`. These keys can move to another server. */
  const main = new PolledServer(redis, { ...options, tag: mainTag, respondedAt: -Infinity })
  let mainName = ''
  /** The other servers, by name. */
  let others = new Map<string, PolledServer>()
  let known: RedisState | undefined
  let isClosed = false

  function findServers(): void {
    const groups = groupByNode(redis, [mainTag, ...tags])
    const name = nodeName(redis, mainTag)
    groups.delete(name)
    if (name !== mainName) main.forgetConfig()
    mainName = name
    others = new Map(
      [...groups].map(([other, [tag]]) => {
        const respondedAt = performance.now()
        const server =
          others.get(other) ?? new PolledServer(redis, { ...options, tag, respondedAt })
        // The keys of the former tag may be on another server now.
        server.tag = tag
        return [other, server]
      }),
    )
  }

  /** Why a server cannot be used, in words for an operator; undefined if it can. */
  const refusal = (name: string, server: PolledServer): string | undefined =>
    server.isSilent() ? `${name}: it does not respond` : server.state?.writeRefusal

  function assess(): void {
    if (main.state === undefined) return
    const usable = [...others].filter(([name, other]) => refusal(name, other) === undefined)
    known = worstOf([main.state, ...usable.flatMap(([, { state }]) => state ?? [])])
  }

  const readOther = (server: PolledServer) =>
    server
      .read()
      .catch((error: unknown) => {
        if (!isClosed) onError(error)
      })
      .finally(assess)

  const ofMain = startPolling({
    async poll() {
      findServers()
      try {
        // The first poll waits until each of the other servers has responded or failed; until then
        // no record is admitted.
        const first = known === undefined ? [...others.values()].map(readOther) : []
        await Promise.all([main.read(), ...first])
      } finally {
        assess()
      }
    },
    intervalMs,
    onError,
  })
  const ofOthers = startPolling({
    async poll() {
      findServers()
      for (const other of others.values()) void readOther(other)
    },
    intervalMs,
    onError,
  })

  function onReady(): void {
    for (const server of [main, ...others.values()]) server.forgetConfig()
    // As in `pollRedisState`: no poll at once while the server refuses writes.
    if (known?.writeRefusal !== undefined) return
    ofMain.pollNow()
    ofOthers.pollNow()
  }
  const onNode = (node: Server) => void node.on('ready', onReady)
  redis.on('ready', onReady)
  redis.on('+node', onNode)

  return {
    state: () => known,
    silentMs: () => main.silentMs(),
    unusableServers: () => [...others].flatMap(([name, other]) => refusal(name, other) ?? []),
    refusalOf(tag) {
      if (known?.installation === null) return lostItsData
      const name = nodeName(redis, tag)
      const other = others.get(name)
      return other && refusal(name, other)
    },
    close() {
      isClosed = true
      redis.off('ready', onReady)
      redis.off('+node', onNode)
      ofMain.close()
      ofOthers.close()
    },
  }
}
