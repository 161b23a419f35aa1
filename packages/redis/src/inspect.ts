import { readClock, type ClockReading } from './clock.ts'
import { ReplyError, type Redis, type Server } from './connect.ts'
import { readDurability } from './durability.ts'
import { infoField } from './info-field.ts'
import { readInstallation } from './installation.ts'
import { primariesOf, primaryOf, type Primary } from './servers.ts'

/** What an operator configures in one server, as it is. */
export interface RedisFacts {
  /** Undefined: there is only one. */
  name: string | undefined
  /** A fork says with which version of Redis it is compatible. */
  version: string
  isReplica: boolean
  /** In words for an operator. */
  durabilityViolations: string[]
  /** It does not let its settings be read. */
  isDurabilityUnreadable: boolean
  memory: {
    usedBytes: number
    /** `maxmemory`; 0: no limit. */
    maxBytes: number
    /** Of the machine; 0: unknown. */
    machineBytes: number
    /** The largest hash that is stored compactly: its fields; undefined: Redis does not tell. */
    compactHashFields: number | undefined
  }
}

export interface RedisInspection {
  servers: RedisFacts[]
  installation: string | null
  clock: ClockReading
}

/**
 * @param options.tags every server that holds keys of these hash tags is asked
 * @throws when Redis does not respond, or refuses to be read
 */
export async function inspectRedis(
  redis: Redis,
  { tags }: { tags?: readonly string[] } = {},
): Promise<RedisInspection> {
  return {
    servers: await Promise.all(primariesOf(redis, tags).map(inspectServer)),
    installation: await readInstallation(redis),
    clock: await readClock(primaryOf(redis)),
  }
}

async function inspectServer(primary: Primary): Promise<RedisFacts> {
  const { name, redis } = primary
  const [server, replication, memory] = await Promise.all([
    redis.info('server'),
    redis.info('replication'),
    redis.info('memory'),
  ])
  const bytes = (field: string) => Number(infoField(memory, field) ?? 0)
  const { violations, isUnreadable } = await readDurability([primary])
  return {
    name,
    version: infoField(server, 'redis_version') ?? 'unknown',
    isReplica: infoField(replication, 'role') === 'slave',
    durabilityViolations: violations,
    isDurabilityUnreadable: isUnreadable,
    memory: {
      usedBytes: bytes('used_memory'),
      maxBytes: bytes('maxmemory'),
      machineBytes: bytes('total_system_memory'),
      compactHashFields: await readCompactHashFields(redis),
    },
  }
}

async function readCompactHashFields(redis: Server): Promise<number | undefined> {
  try {
    const [, value] = await redis.config('GET', 'hash-max-listpack-entries')
    return value === undefined ? undefined : Number(value)
  } catch (error) {
    if (error instanceof ReplyError) return undefined
    throw error
  }
}
