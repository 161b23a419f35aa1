import { Cluster, Redis as Server } from 'ioredis'
import { withTimeout } from '@intake/runtime'
import type { Redis } from '../connect.ts'
import { namesOf } from '../cluster/nodes.ts'
import type { HostPort } from '../redis-url.ts'
import type { Primary } from '../servers.ts'

const timeoutMs = 4_000

/** The facts about a replica, or why it could not be read. */
export type ReplicaReading<Facts> =
  | { name: string; facts: Facts }
  | { name: string; primary: string | undefined; failure: Error }

/**
 * Reads each replica through a connection of its own, with the user, password and TLS of the
 * primary. One that does not respond within four seconds counts as a failure, and delays no other.
 */
export async function readReplicas<Facts>(
  redis: Redis,
  primary: Primary,
  read: (replica: Primary) => Promise<Facts>,
): Promise<ReplicaReading<Facts>[]> {
  const addresses = await findReplicas(redis, primary)
  return Promise.all(
    addresses.map(async ({ host, port }) => {
      const name = `${host}:${port}`
      let socketError: Error | undefined
      const server = connect({ host, port }, primary)
      server.on('error', (error: Error) => (socketError = error))
      try {
        const reading = read({ ...primary, name, redis: server })
        return { name, facts: await withTimeout(reading, timeoutMs, 'reading its settings') }
      } catch (error) {
        return { name, primary: primary.name, failure: socketError ?? (error as Error) }
      } finally {
        server.disconnect()
      }
    }),
  )
}

/**
 * Returns the replicas that a primary lists; in a cluster, the addresses that it gives to clients,
 * unless these are fewer.
 */
async function findReplicas(redis: Redis, primary: Primary): Promise<HostPort[]> {
  const { name, tags, redis: server } = primary
  const replication = await server.info('replication')
  const lines = [...replication.matchAll(/^slave\d+:ip=([^,]*),port=(\d+)/gm)]
  const listed = lines.map(([, host, port]) => ({ host: host!, port: Number(port) }))
  if (!(redis instanceof Cluster)) return listed
  const names = namesOf(redis, tags[0]).filter((one) => one !== name)
  return names.length < listed.length ? listed : names.map(parseName)
}

function parseName(name: string): HostPort {
  const colon = name.lastIndexOf(':')
  return { host: name.slice(0, colon), port: Number(name.slice(colon + 1)) }
}

function connect(address: HostPort, { redis }: Primary): Server {
  const { username, password, tls } = redis.options
  return new Server({
    ...address,
    ...(username != null && { username }),
    ...(password != null && { password }),
    ...(tls && { tls: {} }),
    connectTimeout: timeoutMs,
    // Its settings can be read before the replica has loaded its data.
    enableReadyCheck: false,
    retryStrategy: null,
    lazyConnect: true,
  })
}
