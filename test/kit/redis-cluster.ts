import { connectRedis, type Redis } from '@intake/redis'
import { freePorts } from './free-ports.ts'
import { createRedisServer, redisPassword, type RedisServer } from './redis-server.ts'
import { until } from './until.ts'

/** A Redis Cluster of real processes. */
export interface RedisCluster {
  /** The URL for `REDIS_URL`. */
  url: string
  servers: RedisServer[]
  /** The primary that stores a key, according to one of the running servers. */
  primaryOf(key: string): Promise<RedisServer>
  /** Resolves when every slot has a primary and all replicas are online. */
  untilWhole(): Promise<void>
  close(): Promise<void>
}

const slots = 16_384
/** A server that does not respond for this long counts as failed. */
const nodeTimeoutMs = 2_000

/**
 * Starts a cluster of primaries and their replicas.
 *
 * @param options.replicas number of replicas of each primary
 */
export async function startRedisCluster(options: {
  dataDir: string
  primaries?: number
  replicas?: number
  config?: readonly string[]
}): Promise<RedisCluster> {
  const { dataDir, primaries = 3, replicas = 1, config = [] } = options
  const count = primaries * (1 + replicas)
  const ports = await freePorts(2 * count)
  const buses = ports.splice(count)
  const servers = await Promise.all(
    ports.map((port, index) =>
      createRedisServer({
        dataDir,
        port,
        config: [
          'cluster-enabled yes',
          `cluster-port ${buses[index]}`,
          `cluster-node-timeout ${nodeTimeoutMs}`,
          ...config,
        ],
      }),
    ),
  )
  const clients = new Map<RedisServer, Redis>()
  const close = async () => {
    for (const client of clients.values()) client.disconnect()
    await Promise.all(servers.map((server) => server.process.kill()))
  }
  const client = (server: RedisServer) => {
    const { url } = server
    const known = clients.get(server)
    if (known !== undefined) return known
    const opened = connectRedis({ url, role: 'consumer', onError: () => undefined })
    clients.set(server, opened)
    return opened
  }
  const running = () => servers.filter((server) => server.process.running())

  async function isWhole(): Promise<boolean> {
    const infos = await Promise.all(
      running().map(async (server) => {
        const [cluster, replication] = await Promise.all([
          client(server).call('CLUSTER', 'INFO') as Promise<string>,
          client(server).info('replication'),
        ])
        const isPrimary = replication.includes('role:master')
        const online = replication.match(/^slave\d+:.*state=online/gm)?.length ?? 0
        const linked = replication.includes('master_link_status:up')
        return {
          isPrimary,
          isFine: cluster.includes('cluster_state:ok') && (isPrimary ? online >= replicas : linked),
        }
      }),
    )
    const found = infos.filter(({ isPrimary }) => isPrimary).length
    return found === primaries && infos.every(({ isFine }) => isFine)
  }

  try {
    await Promise.all(servers.map((server) => server.process.start()))
    const [first, ...others] = servers
    for (const [index, server] of servers.slice(0, primaries).entries()) {
      const from = Math.ceil((index * slots) / primaries)
      const to = Math.ceil(((index + 1) * slots) / primaries) - 1
      await client(server).call('CLUSTER', 'ADDSLOTSRANGE', from, to)
      await client(server).call('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    }
    for (const { port } of others) {
      await client(first!).call('CLUSTER', 'MEET', '127.0.0.1', port, buses[ports.indexOf(port)]!)
    }
    await until('all know each other', async () => {
      const infos = await Promise.all(
        servers.map((server) => client(server).call('CLUSTER', 'INFO') as Promise<string>),
      )
      return infos.every((info) => info.includes(`cluster_known_nodes:${count}`))
    })
    for (const [index, server] of servers.slice(primaries).entries()) {
      const id = (await client(servers[index % primaries]!).call('CLUSTER', 'MYID')) as string
      await until('it is a replica', async () => {
        await client(server).call('CLUSTER', 'REPLICATE', id)
        return true
      })
    }
    await until('the cluster is whole', isWhole)
  } catch (error) {
    await close()
    throw error
  }

  return {
    url: `redis+cluster://default:${redisPassword}@${ports.map((port) => `127.0.0.1:${port}`).join()}`,
    servers,
    async primaryOf(key) {
      const [asked] = running()
      const slot = Number(await client(asked!).call('CLUSTER', 'KEYSLOT', key))
      const ranges = (await client(asked!).call('CLUSTER', 'SLOTS')) as [
        number,
        number,
        [string, number],
      ][]
      const [, , [, port]] = ranges.find(([from, to]) => from <= slot && slot <= to)!
      return servers.find((server) => server.port === port)!
    },
    untilWhole: () => until('the cluster is whole', isWhole).then(() => undefined),
    close,
  }
}
