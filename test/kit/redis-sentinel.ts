import { connectRedis, type Redis } from '@intake/redis'
import { freePorts } from './free-ports.ts'
import {
  createRedisServer,
  createSentinel,
  redisPassword,
  type RedisServer,
} from './redis-server.ts'
import { until } from './until.ts'

/** A primary with replicas, and three sentinels, as real processes. */
export interface SentinelSetup {
  /** The URL for `REDIS_URL`. */
  url: string
  servers: RedisServer[]
  sentinels: RedisServer[]
  /** The primary, according to the sentinels. */
  primary(): Promise<RedisServer>
  /** Resolves when the primary has all replicas, and a sentinel knows all servers and sentinels. */
  untilWhole(): Promise<void>
  close(): Promise<void>
}

const primaryName = 'intake-primary'
const sentinelPassword = 'watchers'
const downAfterMs = 1_500

export async function startSentinels(options: {
  dataDir: string
  replicas?: number
  config?: readonly string[]
}): Promise<SentinelSetup> {
  const { dataDir, replicas = 2, config = [] } = options
  const ports = await freePorts(1 + replicas + 3)
  const sentinelPorts = ports.splice(1 + replicas)
  const [primaryPort] = ports
  const servers = await Promise.all(
    ports.map((port) =>
      createRedisServer({
        dataDir,
        port,
        config: port === primaryPort ? config : [`replicaof 127.0.0.1 ${primaryPort}`, ...config],
      }),
    ),
  )
  const sentinels = await Promise.all(
    sentinelPorts.map((port) =>
      createSentinel({
        dataDir,
        port,
        config: [
          `requirepass ${sentinelPassword}`,
          `sentinel sentinel-pass ${sentinelPassword}`,
          `sentinel monitor ${primaryName} 127.0.0.1 ${primaryPort} 2`,
          `sentinel auth-pass ${primaryName} ${redisPassword}`,
          `sentinel down-after-milliseconds ${primaryName} ${downAfterMs}`,
          `sentinel failover-timeout ${primaryName} 10000`,
        ],
      }),
    ),
  )
  const clients: Redis[] = []
  const connect = (url: string) => {
    const client = connectRedis({ url, role: 'consumer', onError: () => undefined })
    clients.push(client)
    return client
  }
  const close = async () => {
    for (const client of clients) client.disconnect()
    await Promise.all([...servers, ...sentinels].map((server) => server.process.kill()))
  }
  try {
    await Promise.all(servers.map((server) => server.process.start()))
    await Promise.all(sentinels.map((server) => server.process.start()))
  } catch (error) {
    await close()
    throw error
  }
  const observers = new Map(servers.map((server) => [server, connect(server.url)]))
  const asked = connect(`redis://:${sentinelPassword}@127.0.0.1:${sentinelPorts[0]}`)

  async function primary(): Promise<RedisServer> {
    const address = (await asked.call(
      'SENTINEL',
      'GET-MASTER-ADDR-BY-NAME',
      primaryName,
    )) as string[]
    return servers.find(({ port }) => String(port) === address[1])!
  }
  const untilWhole = async () => {
    await until('the primary has all replicas', async () => {
      const info = await observers.get(await primary())!.info('replication')
      if (!info.includes('role:master')) return false
      return (info.match(/^slave\d+:.*state=online/gm)?.length ?? 0) >= replicas
    })
    await until('the sentinels know the others and the replicas', async () => {
      const fields = (await asked.call('SENTINEL', 'MASTER', primaryName)) as string[]
      const field = (name: string) => fields[fields.indexOf(name) + 1]
      return (
        field('flags') === 'master' &&
        field('num-other-sentinels') === '2' &&
        field('num-slaves') === String(replicas)
      )
    })
  }
  await untilWhole()
  const hosts = sentinelPorts.map((port) => `127.0.0.1:${port}`).join()
  return {
    url:
      `redis+sentinel://default:${redisPassword}@${hosts}/${primaryName}` +
      `?sentinel_password=${sentinelPassword}`,
    servers,
    sentinels,
    primary,
    untilWhole,
    close,
  }
}
