import { startPolling } from '@intake/runtime'
import type { Cluster } from 'ioredis'
import type { Server } from '../connect.ts'
import { createPolledServer, type PolledServer } from '../polled-server.ts'
import { mainTag } from '../servers.ts'
import {
  lostItsData,
  worstOf,
  type PollOptions,
  type RedisPoll,
  type RedisState,
} from '../state.ts'
import { groupByNode, nodeName } from './nodes.ts'

/** A server that has not responded for this long counts as frozen. */
const silentAfterMs = 5_000

/**
 * Like `pollRedisState`, for the servers with keys of `{intake}` or `options.tags`. Reads the
 * configuration also when keys have moved. A server that does not respond does not delay the
 * others.
 */
export function pollCluster(redis: Cluster, options: PollOptions): RedisPoll {
  const { tags = [], intervalMs, onError } = options
  const create = (tag: string, respondedAt: number) =>
    createPolledServer(redis, { ...options, tag, respondedAt })
  /** The server that now holds the keys of `{intake}`. These keys can move to another server. */
  const main = create(mainTag, -Infinity)
  let mainName = ''
  const others = createOtherServers((tag) => create(tag, performance.now()))
  let known: RedisState | undefined
  let isClosed = false

  function findServers(): void {
    const groups = groupByNode(redis, [mainTag, ...tags])
    const name = nodeName(redis, mainTag)
    groups.delete(name)
    if (name !== mainName) main.forgetConfig()
    mainName = name
    others.update(groups)
  }

  function assess(): void {
    if (main.state === undefined) return
    known = worstOf([main.state, ...others.usableStates()])
  }

  const readOther = (server: PolledServer) =>
    server
      .read()
      .catch((error: unknown) => {
        if (!isClosed) onError(error)
      })
      .finally(assess)

  async function readMain(): Promise<void> {
    findServers()
    try {
      // The first poll waits for each of the other servers; until then no record is admitted.
      const first = known === undefined ? others.all().map(readOther) : []
      await Promise.all([main.read(), ...first])
    } finally {
      assess()
    }
  }

  const ofMain = startPolling({ poll: readMain, intervalMs, onError })
  const ofOthers = startPolling({
    async poll() {
      findServers()
      for (const other of others.all()) void readOther(other)
    },
    intervalMs,
    onError,
  })
  const stopListening = listenForReady(redis, () => {
    for (const server of [main, ...others.all()]) server.forgetConfig()
    // As in `pollRedisState`: no poll at once while the server refuses writes.
    if (known?.writeRefusal !== undefined) return
    ofMain.pollNow()
    ofOthers.pollNow()
  })

  return {
    state: () => known,
    refresh() {
      ofOthers.pollNow()
      return readMain()
    },
    silentMs: main.silentMs,
    unusableServers: others.refusals,
    refusalOf: (tag) =>
      known?.installation === null ? lostItsData : others.refusalOf(nodeName(redis, tag)),
    close() {
      isClosed = true
      stopListening()
      ofMain.close()
      ofOthers.close()
    },
  }
}

function createOtherServers(create: (tag: string) => PolledServer) {
  let byName = new Map<string, PolledServer>()

  /** Why a server cannot be used, in words for an operator; undefined if it can. */
  function refusalOf(name: string): string | undefined {
    const server = byName.get(name)
    const isSilent = server !== undefined && server.silentMs() > silentAfterMs
    return isSilent ? `${name}: it does not respond` : server?.state?.writeRefusal
  }

  return {
    all: () => [...byName.values()],
    update(groups: ReadonlyMap<string, [string, ...string[]]>) {
      byName = new Map(
        [...groups].map(([name, [tag]]) => {
          const server = byName.get(name) ?? create(tag)
          // The keys of the former tag may be on another server now.
          server.tag = tag
          return [name, server]
        }),
      )
    },
    usableStates: () =>
      [...byName].flatMap(([name, { state }]) =>
        refusalOf(name) === undefined ? (state ?? []) : [],
      ),
    refusals: () => [...byName.keys()].flatMap((name) => refusalOf(name) ?? []),
    refusalOf,
  }
}

/** Calls `onReady` when the cluster or a node that is new in it is ready; returns how to stop. */
function listenForReady(redis: Cluster, onReady: () => void): () => void {
  const onNode = (node: Server) => void node.on('ready', onReady)
  redis.on('ready', onReady)
  redis.on('+node', onNode)
  return () => {
    redis.off('ready', onReady)
    redis.off('+node', onNode)
  }
}
