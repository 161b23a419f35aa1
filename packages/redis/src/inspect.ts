import { readClock, type ClockReading } from './clock.ts'
import type { Redis } from './connect.ts'
import { readDurability, readSetting } from './durability/durability.ts'
import { infoField } from './replies.ts'
import { readInstallation } from './installation.ts'
import { readReplicas, type ReplicaReading } from './durability/replicas.ts'
import { primariesOf, primaryOf, type Primary } from './servers.ts'

/** What an operator configures in one server, and the current state of the server. */
export interface RedisFacts {
  /** `host:port` of the server; undefined if there is only one server. */
  name: string | undefined
  /** The version of Redis; for a fork, the version with which it is compatible. */
  version: string
  isReplica: boolean
  /** Why the server could lose data, in words for an operator. */
  durabilityViolations: string[]
  isDurabilityUnreadable: boolean
  memory: {
    usedBytes: number
    /** `maxmemory`; 0 means no limit. */
    maxBytes: number
    /** The memory of the machine; 0 if unknown. */
    machineBytes: number
    /** Fields of a hash that is stored compactly; undefined if this setting is not readable. */
    compactHashFields: number | undefined
  }
}

export interface RedisInspection {
  servers: RedisFacts[]
  replicas: ReplicaReading<RedisFacts>[]
  installation: string | null
  clock: ClockReading
}

/**
 * @param options.tags all servers with keys of these hash tags, and their replicas, are read
 * @throws if Redis does not respond, or refuses to be read
 */
export async function inspectRedis(
  redis: Redis,
  { tags }: { tags?: readonly string[] } = {},
): Promise<RedisInspection> {
  const primaries = primariesOf(redis, tags)
  const [servers, replicas] = await Promise.all([
    Promise.all(primaries.map(inspectServer)),
    Promise.all(primaries.map((primary) => readReplicas(redis, primary, inspectServer))),
  ])
  return {
    servers,
    replicas: replicas.flat(),
    installation: await readInstallation(redis),
    clock: await readClock(primaryOf(redis)),
  }
}

async function inspectServer(server: Primary): Promise<RedisFacts> {
  const { name, redis } = server
  const [software, replication, memory] = await Promise.all([
    redis.info('server'),
    redis.info('replication'),
    redis.info('memory'),
  ])
  const bytes = (field: string) => Number(infoField(memory, field) ?? 0)
  const isReplica = infoField(replication, 'role') === 'slave'
  const { violations, isUnreadable } = await readDurability(server, isReplica)
  const compactHashFields = await readSetting(redis, 'hash-max-listpack-entries')
  return {
    name,
    version: infoField(software, 'redis_version') ?? 'unknown',
    isReplica,
    durabilityViolations: violations,
    isDurabilityUnreadable: isUnreadable,
    memory: {
      usedBytes: bytes('used_memory'),
      maxBytes: bytes('maxmemory'),
      machineBytes: bytes('total_system_memory'),
      compactHashFields: compactHashFields === undefined ? undefined : Number(compactHashFields),
    },
  }
}
