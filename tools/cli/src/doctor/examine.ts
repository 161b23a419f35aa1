import { limits } from '@intake/contract'
import { readBucket } from '../bucket.ts'
import { examineBucket } from './bucket.ts'
import { examineClickHouse, type ClickHouseExamination } from './clickhouse.ts'
import { findClockProblems } from './clocks.ts'
import { findConfigProblems } from './config.ts'
import { findingIf, type Finding } from './finding.ts'
import { examineReader } from './reader.ts'
import { examineRedis, type RedisExamination } from './redis.ts'

/** Changes nothing except for a probe object in the bucket. */
export async function examine(options: {
  redisUrl: string
  clickhouseUrl: string
  s3Endpoint: string
  env: Record<string, string | undefined>
}): Promise<Finding[]> {
  const { redisUrl, clickhouseUrl, s3Endpoint } = options
  // Sets the URLs that the command found. They need not be in the environment: they may come from
  // files or from the running stack.
  const env: Record<string, string | undefined> = {
    ...options.env,
    REDIS_URL: redisUrl,
    CLICKHOUSE_URL: clickhouseUrl,
    S3_ENDPOINT: s3Endpoint,
    // The files of these URLs have already been read.
    REDIS_URL_FILE: undefined,
    CLICKHOUSE_URL_FILE: undefined,
    S3_ENDPOINT_FILE: undefined,
  }
  const config = findConfigProblems(env)
  if (
    config.some(({ detail }) =>
      /\b(REDIS_URL|(PAGE_)?CLICKHOUSE_URL|CLICKHOUSE_CLUSTER|S3_\w+|AWS_\w+)\b/.test(detail),
    )
  ) {
    return config
  }
  const s3 = readBucket(env)
  const [redis, clickhouse, bucket, reader] = await Promise.all([
    examineRedis(redisUrl, {
      assertsDurability: env['REDIS_DURABILITY'] === 'asserted',
      // An invalid value counts as 0 here. It is reported with the problems of the configuration.
      replicasMin: Number(env['REDIS_ACK_REPLICAS']) || 0,
      env: config.length === 0 ? env : undefined,
    }),
    examineClickHouse({ url: clickhouseUrl, cluster: env['CLICKHOUSE_CLUSTER'] || undefined }),
    examineBucket(s3),
    examineReader(env),
  ])
  return [
    ...config,
    ...redis.findings,
    ...clickhouse.findings,
    ...bucket,
    ...reader,
    ...compare(redis.facts, clickhouse.facts),
  ]
}

/** Finds problems that show only when Redis and ClickHouse are compared. */
function compare(
  redis: RedisExamination['facts'],
  clickhouse: ClickHouseExamination['facts'],
): Finding[] {
  if (redis === undefined || clickhouse === undefined) return []
  const { offsetMs, errorMs } = redis.clock
  const ahead = performance.now() + offsetMs - Date.now()
  const clocks = {
    redis: { min: ahead - errorMs, max: ahead + errorMs },
    clickhouse: clickhouse.aheadMs,
  }
  return [
    ...findClockProblems(clocks, { skewMaxMs: limits.clockSkewMaxMs }),
    ...findInstallationProblems(redis.installation, clickhouse.installation),
  ]
}

/** A mark is null if there is none, and undefined if another finding says why it is not known. */
function findInstallationProblems(
  redis: string | null,
  clickhouse: string | null | undefined,
): Finding[] {
  if (clickhouse === undefined) return []
  return [
    ...findingIf(
      clickhouse === null,
      'clickhouse_schema',
      'this ClickHouse belongs to no installation',
      'Run intake setup.',
    ),
    ...findingIf(
      clickhouse !== null && redis === null,
      'redis_lost_its_data',
      'Redis holds nothing of this installation: it is not the same Redis, or it has lost its data',
      'Correct REDIS_URL, restore the data of Redis, or accept the loss with intake setup --accept-empty-redis.',
    ),
    ...findingIf(
      clickhouse !== null && redis !== null && redis !== clickhouse,
      'configuration',
      'this Redis and this ClickHouse belong to different installations',
      'Correct REDIS_URL or CLICKHOUSE_URL.',
    ),
  ]
}
