import { once } from 'node:events'
import { bucketFieldsMax, reservationTags } from '@intake/identity'
import { findLostShards, readShards, shardPrefix } from '@intake/queue'
import {
  connectRedis,
  describeRefusal,
  findWriteRefusal,
  inspectRedis,
  mainTag,
  type Redis,
  type RedisFacts,
  type RedisInspection,
} from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { finding, type Finding } from './finding.ts'

const timeoutMs = 10_000
const mebibyte = 1024 ** 2
/** Less is used up by an outage of ClickHouse of a few minutes. */
const memoryBytesMin = 128 * mebibyte
/** Redis needs memory beyond its limit while it rewrites its log. */
const machineShareMax = 0.75
const versionMin = 7

interface RedisExpectations {
  assertsDurability: boolean
  replicasMin: number
}

interface Examination {
  findings: Finding[]
  /** Undefined: Redis cannot be used. */
  facts: (RedisInspection & { shards: number }) | undefined
}

/**
 * The findings about Redis, of a cluster about each server that holds keys of Intake.
 *
 * @param options.assertsDurability the operator asserts the settings that cannot be read
 * @param options.replicasMin how many replicas each server must have
 */
export async function examineRedis(url: string, options: RedisExpectations): Promise<Examination> {
  let fail: ((error: Error) => void) | undefined
  const failed = new Promise<never>((_, reject) => (fail = reject))
  failed.catch(() => undefined)
  const redis = connectRedis({ url, role: 'consumer', onError: (error) => fail?.(error) })
  try {
    await Promise.race([
      withTimeout(once(redis, 'ready'), timeoutMs, 'connecting to Redis'),
      failed,
    ])
    return await Promise.race([withTimeout(examine(redis, options), timeoutMs, 'Redis'), failed])
  } catch (error) {
    return { findings: [unusable(reasonOf(error))], facts: undefined }
  } finally {
    redis.disconnect()
  }
}

async function examine(redis: Redis, options: RedisExpectations): Promise<Examination> {
  // First, because nothing else counts in a replica, whose settings are those of another server.
  const mainRefusal = await findWriteRefusal(redis)
  if (mainRefusal !== undefined) return { findings: [unusable(mainRefusal)], facts: undefined }
  const shards = await readShards(redis)
  const tags = [...new Set([mainTag, ...reservationTags, ...shards.map(shardPrefix)])]
  const refusal = await findWriteRefusal(redis, { tags, replicasMin: options.replicasMin })
  if (refusal !== undefined) return { findings: [unusable(refusal)], facts: undefined }
  const facts = await inspectRedis(redis, { tags })
  const { installation } = facts
  const lost = installation === null ? [] : await findLostShards(redis, installation)
  return {
    findings: [
      ...facts.servers.flatMap((one) => findRedisProblems(one, options)),
      ...findShardProblems(lost),
    ],
    facts: { ...facts, shards: shards.length },
  }
}

function findShardProblems(lost: readonly number[]): Finding[] {
  if (lost.length === 0) return []
  return [
    finding(
      'redis_lost_its_data',
      `the Redis of the queue shards ${lost.join(', ')} holds nothing of this installation: it has lost its data`,
      'Restore the data of Redis, or accept the loss with intake setup --accept-empty-redis.',
    ),
  ]
}

/** What is wrong with the settings of a server that accepts writes. */
export function findRedisProblems(
  { name, version, durabilityViolations, isDurabilityUnreadable, memory }: RedisFacts,
  { assertsDurability }: Pick<RedisExpectations, 'assertsDurability'>,
): Finding[] {
  const server = name === undefined ? 'Redis' : `Redis ${name}`
  return [
    ...(Number.parseInt(version, 10) >= versionMin
      ? []
      : [
          finding(
            'redis_version',
            `${server} has version ${version}, and at least ${versionMin} is needed`,
            `Upgrade to Redis ${versionMin} or Valkey 7.2, or later.`,
          ),
        ]),
    ...durabilityViolations.map((violation) =>
      finding(
        'redis_could_lose_records',
        violation,
        'Set it at once with CONFIG SET, and in the configuration file of Redis, which counts after a restart.',
      ),
    ),
    ...(isDurabilityUnreadable && !assertsDurability
      ? [
          finding(
            'redis_could_lose_records',
            `${server} does not let its settings be read (CONFIG GET)`,
            'Let the user in REDIS_URL run CONFIG GET; where that is not possible, see to the settings yourself and ' +
              'set REDIS_DURABILITY=asserted for the gateways and for doctor.',
          ),
        ]
      : []),
    ...findMemoryProblems(server, memory),
  ]
}

function findMemoryProblems(server: string, memory: RedisFacts['memory']): Finding[] {
  const { maxBytes, machineBytes, compactHashFields = Infinity } = memory
  const findings: Finding[] = []
  if (maxBytes === 0) {
    findings.push(
      finding(
        'redis_memory',
        `${server} has no memory limit (maxmemory 0)`,
        'Set maxmemory to half of the memory that Redis may use: it can need twice that while it rewrites its ' +
          'log. Gateways refuse records in time before the limit.',
      ),
    )
  } else if (maxBytes < memoryBytesMin) {
    findings.push(
      finding(
        'redis_memory',
        `${server} has maxmemory ${mib(maxBytes)}, and at least ${mib(memoryBytesMin)} is needed`,
        'Set maxmemory to what waits during the longest outage of ClickHouse that you expect, at 400 bytes per ' +
          'record, twice.',
      ),
    )
  } else if (machineBytes > 0 && maxBytes > machineBytes * machineShareMax) {
    findings.push(
      finding(
        'redis_memory',
        `${server} has maxmemory ${mib(maxBytes)}, more than three quarters of the ${mib(machineBytes)} of its machine`,
        'Set maxmemory to half of the memory of the machine: the system would end Redis before its limit counts.',
      ),
    )
  }
  if (compactHashFields < bucketFieldsMax) {
    findings.push(
      finding(
        'redis_memory',
        `${server} has hash-max-listpack-entries ${compactHashFields}, so that an idempotency key takes three times the memory`,
        `Set hash-max-listpack-entries to at least ${bucketFieldsMax}; the default is 512.`,
      ),
    )
  }
  return findings
}

const mib = (bytes: number) => `${Math.round(bytes / mebibyte)} MiB`

const unusable = (reason: string): Finding =>
  finding(
    'redis_connection',
    reason,
    'Check REDIS_URL: it must lead to the primary, with a user and password that it accepts.',
  )

function reasonOf(error: unknown): string {
  try {
    return describeRefusal(error)
  } catch {
    const { message, code } = error as NodeJS.ErrnoException
    return `Redis cannot be reached: ${message || code || String(error)}`
  }
}
