import { readClock, type ClockReading } from './clock.ts'
import { ReplyError, type Redis } from './connect.ts'
import { findDurabilityViolations } from './durability.ts'
import { infoField } from './info-field.ts'
import { readInstallation } from './installation.ts'

/** What an operator configures in Redis, as it is. */
export interface RedisFacts {
  /** A fork says with which version of Redis it is compatible. */
  version: string
  isReplica: boolean
  /** In words for an operator. */
  durabilityViolations: string[]
  memory: {
    usedBytes: number
    /** `maxmemory`; 0: no limit. */
    maxBytes: number
    /** Of the machine; 0: unknown. */
    machineBytes: number
    /** The largest hash that is stored compactly: its fields; undefined: Redis does not tell. */
    compactHashFields: number | undefined
  }
  installation: string | null
  clock: ClockReading
}

/** @throws when Redis does not respond, or refuses to be read */
export async function inspectRedis(redis: Redis): Promise<RedisFacts> {
  const [server, replication, memory] = await Promise.all([
    redis.info('server'),
    redis.info('replication'),
    redis.info('memory'),
  ])
  const bytes = (name: string) => Number(infoField(memory, name) ?? 0)
  return {
    version: infoField(server, 'redis_version') ?? 'unknown',
    isReplica: infoField(replication, 'role') === 'slave',
    durabilityViolations: await findDurabilityViolations(redis),
    memory: {
      usedBytes: bytes('used_memory'),
      maxBytes: bytes('maxmemory'),
      machineBytes: bytes('total_system_memory'),
      compactHashFields: await readCompactHashFields(redis),
    },
    installation: await readInstallation(redis),
    clock: await readClock(redis),
  }
}

async function readCompactHashFields(redis: Redis): Promise<number | undefined> {
  try {
    const [, value] = await redis.config('GET', 'hash-max-listpack-entries')
    return value === undefined ? undefined : Number(value)
  } catch (error) {
    if (error instanceof ReplyError) return undefined
    throw error
  }
}
