import { startPolling } from '@intake/runtime'
import { Cluster } from 'ioredis'
import type { Redis, Server } from './connect.ts'
import { readDurability, type Durability } from './durability/durability.ts'
import { groupByNode, mainTag, nameOf, type Primary } from './servers.ts'
import { readState, worstOf, type RedisState, type StateOptions } from './state.ts'

export interface RedisPoll {
  /**
   * The combined state of all usable servers (see `worstOf`). While the server that holds the keys
   * of `{intake}` does not respond, its last known state is used. Undefined until that server has
   * responded once.
   */
  state(): RedisState | undefined
  /**
   * Milliseconds since the last response of the server that holds the keys of `{intake}`;
   * `Infinity` before the first response.
   */
  silentMs(): number
  /**
   * Returns `host:port` and the reason for each server that refuses writes or has not responded for
   * five seconds. The server of `{intake}` is not among them.
   */
  unusableServers(): string[]
  /**
   * Returns the reason why nothing may be written to the server that holds the keys of a hash tag:
   * the server is unusable, or Redis has lost its data. Returns undefined if there is no reason.
   */
  refusalOf(tag: string): string | undefined
  close(): void
}

/** A server of a cluster, or the only server. */
interface PolledServer {
  name: string
  /** A hash tag whose keys the server holds. */
  tag: string
  state: RedisState | undefined
  respondedAt: number
  durability: Durability
  configReadAt: number
  /** The reading in progress. */
  reading: Promise<void> | undefined
}

const configIntervalMs = 3_000
/** A server that has not responded for this long counts as frozen. */
const silentAfterMs = 5_000

/**
 * Polls the state of Redis every `intervalMs`, and its configuration every three seconds. Polls
 * both when the connection becomes ready, because the new connection may lead to another Redis.
 * Reads the configuration also when the keys have moved to another server of a cluster. Before the
 * first response the intervals are shorter. A server that does not respond does not delay the other
 * servers.
 *
 * @param options.redis a connection of role `producer`, whose commands have a timeout
 * @param options.tags the servers that hold keys of these hash tags are polled, too
 */
export function pollRedisState(
  options: {
    redis: Redis
    tags?: readonly string[]
    intervalMs: number
    onError: (error: unknown) => void
  } & Partial<StateOptions>,
): RedisPoll {
  const { redis, tags = [], intervalMs, onError } = options
  const { replicasMin = 0, assertsDurability = false } = options
  /** The server that now holds the keys of `{intake}`. These keys can move to another server. */
  const main = { ...createPolled('', mainTag), respondedAt: -Infinity }
  let others: PolledServer[] = []
  let known: RedisState | undefined
  let isClosed = false

  function findServers(): void {
    const [[mainName], ...groups] = [...groupByNode(redis, [mainTag, ...tags])] as [
      [string, string[]],
      ...[string, [string, ...string[]]][],
    ]
    if (main.name !== mainName) main.configReadAt = -Infinity
    main.name = mainName
    others = groups.map(([name, [tag]]) => {
      const former = others.find((other) => other.name === name)
      // Replaces the server's tag, because the keys of the former tag may be on another server now.
      return former === undefined ? createPolled(name, tag) : Object.assign(former, { tag })
    })
  }

  const isSilent = ({ respondedAt }: PolledServer) =>
    performance.now() - respondedAt > silentAfterMs

  function assess(): void {
    if (main.state === undefined) return
    const usable = others.filter((other) => refusal(other) === undefined)
    const states = usable.flatMap(({ state }) => state ?? [])
    known = worstOf([main.state, ...states])
  }

  /** Why the server cannot be used, in words for an operator; undefined if it can. */
  function refusal(other: PolledServer): string | undefined {
    return isSilent(other) ? `${other.name}: it does not respond` : other.state?.writeRefusal
  }

  async function readDurabilityAtTimes(server: PolledServer, primary: Primary) {
    if (performance.now() - server.configReadAt < configIntervalMs) return server.durability
    server.durability = await readDurability([primary])
    server.configReadAt = performance.now()
    return server.durability
  }

  async function readOnce(server: PolledServer): Promise<void> {
    server.state = await readState(redis, {
      tag: server.tag,
      previous: server.state,
      readDurability: (primary) => readDurabilityAtTimes(server, primary),
      replicasMin,
      assertsDurability,
    })
    server.respondedAt = performance.now()
  }

  const read = (server: PolledServer) =>
    (server.reading ??= readOnce(server).finally(() => (server.reading = undefined)))

  const readOther = (server: PolledServer) =>
    read(server)
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
        if (known === undefined) await Promise.all([read(main), ...others.map(readOther)])
        else await read(main)
      } finally {
        assess()
      }
    },
    intervalMs,
    onError,
  })
  /** Polls the other servers of a cluster; undefined if there is only one server. */
  const ofOthers =
    redis instanceof Cluster
      ? startPolling({
          async poll() {
            findServers()
            for (const other of others) void readOther(other)
          },
          intervalMs,
          onError,
        })
      : undefined
  function onReady(): void {
    for (const server of [main, ...others]) server.configReadAt = -Infinity
    // If a server refuses writes (for example because it is a replica), a poll may close the
    // connection. A poll at once after each reconnection would then loop without a pause.
    if (known?.writeRefusal !== undefined) return
    ofMain.pollNow()
    ofOthers?.pollNow()
  }
  redis.on('ready', onReady)
  const onNode = (node: Server) => void node.on('ready', onReady)
  if (redis instanceof Cluster) redis.on('+node', onNode)

  return {
    state: () => known,
    silentMs: () => performance.now() - main.respondedAt,
    unusableServers: () => others.flatMap((other) => refusal(other) ?? []),
    refusalOf(tag) {
      if (known?.installation === null) return 'Redis is new or has lost its data'
      const name = nameOf(redis, tag)
      const other = others.find((one) => one.name === name)
      return other === undefined ? undefined : refusal(other)
    },
    close() {
      isClosed = true
      redis.off('ready', onReady)
      redis.off('+node', onNode)
      ofMain.close()
      ofOthers?.close()
    },
  }
}

function createPolled(name: string, tag: string): PolledServer {
  return {
    name,
    tag,
    state: undefined,
    respondedAt: performance.now(),
    durability: { violations: [], isUnreadable: false },
    configReadAt: -Infinity,
    reading: undefined,
  }
}
