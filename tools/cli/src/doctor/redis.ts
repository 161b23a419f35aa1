import { once } from 'node:events'
import { helpOf } from '@intake/health/problem-catalogue'
import { bucketFieldsMax, reservationTags } from '@intake/identity'
import { findLostShards, readShards, shardPrefix } from '@intake/queue'
import {
  connectRedis,
  findWriteRefusal,
  inspectRedis,
  mainTag,
  nameOf,
  type Redis,
  type RedisFacts,
  type RedisInspection,
  tagPerPrimary,
  titleOf,
} from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { describeReply, explainRedis } from '../redis-failure.ts'
import { bytes } from '../status/units.ts'
import { examineEntries } from './entries.ts'
import { degraded, finding, findingIf, type Finding } from './finding.ts'
import { examineSharedSettings } from './shared-settings.ts'

/** The smallest useful `maxmemory`. It is enough for a ClickHouse outage of a few minutes. */
const redisMemoryBytesMin = 128 * 1024 ** 2

const connectTimeoutMs = 10_000
/** Leaves time for a few servers or replicas that do not respond. */
const timeoutMs = 20_000
const serverTimeoutMs = 4_000
/** The largest share of the machine's memory: Redis needs the rest while it rewrites its log. */
const machineShareMax = 0.75
const versionMin = 7

interface RedisExpectations {
  assertsDurability: boolean
  replicasMin: number
  /** The valid environment of the command, to compare its settings with those of processes. */
  env?: Record<string, string | undefined> | undefined
}

export interface RedisExamination {
  findings: Finding[]
  /** Undefined if Redis cannot be used. */
  facts: RedisInspection | undefined
}

/** Examines each server that holds keys of Intake, and the replicas. */
export async function examineRedis(
  url: string,
  options: RedisExpectations,
): Promise<RedisExamination> {
  let lastError: Error | undefined
  const redis = connectRedis({ url, role: 'producer', onError: (error) => (lastError = error) })
  // An `error` event ends the examination. In a cluster, errors of single nodes emit no such event.
  const failed = once(redis, 'error').then(() => Promise.reject(lastError))
  failed.catch(() => undefined)
  try {
    const ready = withTimeout(once(redis, 'ready'), connectTimeoutMs, 'connecting to Redis')
    await Promise.race([ready.catch((late: Error) => Promise.reject(lastError ?? late)), failed])
    return await Promise.race([withTimeout(examine(redis, options), timeoutMs, 'Redis'), failed])
  } catch (error) {
    return { findings: [unusable(explainRedis(error))], facts: undefined }
  } finally {
    redis.disconnect()
  }
}

async function examine(redis: Redis, options: RedisExpectations): Promise<RedisExamination> {
  const { replicasMin, env } = options
  // Checks first whether the server of `mainTag` accepts writes. If that server is a replica, its
  // other problems do not matter, because its settings are not those of the primary.
  const refusal = await refusalOf(redis, mainTag, replicasMin)
  if (refusal !== undefined) return { findings: [unusable(refusal)], facts: undefined }
  const shards = await readShards(redis)
  const all = tagPerPrimary(redis, [mainTag, ...reservationTags, ...shards.map(shardPrefix)])
  const others = await Promise.all(
    all.slice(1).map(async (tag) => ({ tag, refusal: await refusalOf(redis, tag, replicasMin) })),
  )
  const usable = others.filter((other) => other.refusal === undefined).map(({ tag }) => tag)
  const tags = [mainTag, ...usable]
  const facts = await inspectRedis(redis, { tags })
  const names = new Set(tags.map((tag) => nameOf(redis, tag)))
  const asked = shards.filter((shard) => names.has(nameOf(redis, shardPrefix(shard))))
  const { installation } = facts
  const [lost, entries, settings] =
    installation === null
      ? [[], [], []]
      : await Promise.all([
          findLostShards(redis, installation, asked),
          examineEntries(redis),
          env === undefined ? [] : examineSharedSettings(redis, env),
        ])
  return {
    findings: [
      // If a server other than that of shard 0 refuses writes, Intake is only degraded: gateways
      // then add records to the remaining servers of the queue.
      ...others.flatMap((other) =>
        other.refusal === undefined ? [] : [degraded(unusable(other.refusal))],
      ),
      ...facts.servers.flatMap((one) => findRedisProblems(one, options)),
      ...facts.replicas.flatMap((one) => findReplicaProblems(one, options)),
      ...findingIf(
        lost.length > 0,
        'redis_lost_its_data',
        `the Redis of the queue shards ${lost.join(', ')} holds nothing of this installation: it has lost its data`,
        'Restore the data of Redis, or accept the loss with intake setup --accept-empty-redis.',
      ),
      ...entries,
      ...settings,
    ],
    facts,
  }
}

/** Why the server that holds a hash tag accepts no writes; undefined if it accepts them. */
async function refusalOf(
  redis: Redis,
  tag: string,
  replicasMin: number,
): Promise<string | undefined> {
  const refusal = findWriteRefusal(redis, { tags: [tag], replicasMin })
  try {
    return await withTimeout(refusal, serverTimeoutMs, 'Redis')
  } catch (error) {
    const name = nameOf(redis, tag)
    if (name === '') throw error
    return `${name}: it does not respond`
  }
}

/** Finds problems of a replica. They take effect when the replica becomes the primary. */
function findReplicaProblems(
  replica: RedisInspection['replicas'][number],
  options: Pick<RedisExpectations, 'assertsDurability'>,
): Finding[] {
  if ('facts' in replica) return findRedisProblems(replica.facts, options).map(degraded)
  if (options.assertsDurability) return []
  const { name, primary, failure } = replica
  const server = titleOf({ name: primary, isReplica: false })
  return [
    degraded(
      finding(
        'redis_connection',
        `${server} lists the replica ${name}, which cannot be examined: ${describeReply(failure)}`,
        'Run doctor where the replicas can be reached, with a user that may log in there. Where the provider of a managed Redis ' +
          'hides them, check their settings yourself, and set REDIS_DURABILITY=asserted: each can become the primary.',
      ),
    ),
  ]
}

/** Finds problems in the settings of a primary that accepts writes, or of a replica. */
export function findRedisProblems(
  { name, isReplica, version, durabilityViolations, isDurabilityUnreadable, memory }: RedisFacts,
  { assertsDurability }: Pick<RedisExpectations, 'assertsDurability'>,
): Finding[] {
  const server = titleOf({ name, isReplica })
  return [
    ...findingIf(
      !(Number.parseInt(version, 10) >= versionMin),
      'redis_version',
      `${server} has version ${version}, and at least ${versionMin} is needed`,
      `Upgrade to Redis ${versionMin} or Valkey 7.2, or later.`,
    ),
    ...durabilityViolations.map((violation) =>
      finding(
        'redis_could_lose_records',
        violation,
        'Set it at once with CONFIG SET, and in the configuration file of Redis, which applies after a restart.',
      ),
    ),
    ...findingIf(
      isDurabilityUnreadable && !assertsDurability,
      'redis_could_lose_records',
      `${server} hides its settings (CONFIG GET)`,
      'Let the user in REDIS_URL run CONFIG GET; where that is not possible, check the settings yourself and ' +
        'set REDIS_DURABILITY=asserted for the gateways and for doctor.',
    ),
    ...findMemoryProblems(server, memory),
  ]
}

function findMemoryProblems(server: string, memory: RedisFacts['memory']): Finding[] {
  const { maxBytes, machineBytes, compactHashFields = Infinity } = memory
  const isSmall = maxBytes > 0 && maxBytes < redisMemoryBytesMin
  const isLarge = !isSmall && machineBytes > 0 && maxBytes > machineBytes * machineShareMax
  return [
    ...findingIf(
      maxBytes === 0,
      'redis_memory',
      `${server} has no memory limit (maxmemory 0)`,
      'Set maxmemory to half of the memory that Redis may use: it can need twice that while it rewrites its ' +
        'log. Gateways refuse records before the limit is reached.',
    ),
    ...findingIf(
      isSmall,
      'redis_memory',
      `${server} has maxmemory ${bytes(maxBytes)}, and at least ${bytes(redisMemoryBytesMin)} is needed`,
      'Set maxmemory to twice the size of what waits during the longest outage of ClickHouse that you expect, ' +
        'at 400 bytes per record.',
    ),
    ...findingIf(
      isLarge,
      'redis_memory',
      `${server} has maxmemory ${bytes(maxBytes)}, more than three quarters of the ${bytes(machineBytes)} of its machine`,
      'Set maxmemory to half of the memory of the machine: the system would end Redis before the limit applies.',
    ),
    ...findingIf(
      compactHashFields < bucketFieldsMax,
      'redis_memory',
      `${server} has hash-max-listpack-entries ${compactHashFields}, so an idempotency key takes three times the memory`,
      `Set hash-max-listpack-entries to at least ${bucketFieldsMax}; the default is 512.`,
    ),
  ]
}

const unusable = (reason: string): Finding =>
  finding(
    'redis_connection',
    reason,
    `Do what ${helpOf('redis_connection')} says for this message: the cause may be the server, its disk, its replicas, the network, or REDIS_URL.`,
  )
