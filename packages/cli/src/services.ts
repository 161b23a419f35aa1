import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { createObjectStore, type ObjectStore } from '@intake/object-store'
import { connectRedis, readInstallation, type Redis } from '@intake/redis'
import { withTimeout } from '@intake/runtime'
import { findEndpoint, UsageError } from './endpoints.ts'

/** Connections to everything that holds records, as the owner. */
export interface Services {
  clickhouse: ClickHouse
  redis: Redis
  objects: ObjectStore
  /** The mark of this installation. */
  installation: string
}

const connectTimeoutMs = 10_000
const objectTimeoutMs = 30_000
/** A statement may scan all tables. */
const statementTimeoutMs = 30 * 60_000

/**
 * Runs `work` with connections to all services, and closes them. ClickHouse keeps none of the statements in
 * its log of queries, because they contain what is erased.
 */
export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const endpoint = findEndpoint('S3_ENDPOINT')
  const failures: Error[] = []
  const clickhouse = createClickHouse({
    url: findEndpoint('CLICKHOUSE_URL'),
    requestTimeoutMs: statementTimeoutMs,
    logQueries: false,
  })
  const redis = connectRedis({
    url: findEndpoint('REDIS_URL'),
    role: 'consumer',
    onError: (error) => failures.push(error),
  })
  const objects = createObjectStore({
    endpoint,
    bucket: process.env['S3_BUCKET'] || 'intake',
    region: process.env['S3_REGION'] || 'us-east-1',
    timeoutMs: objectTimeoutMs,
  })
  try {
    const installation = await withTimeout(
      readInstallation(redis),
      connectTimeoutMs,
      'Redis',
    ).catch((error: unknown) => {
      throw failures.at(-1) ?? error
    })
    if (installation === null) throw new UsageError('Redis belongs to no installation.')
    return await work({ clickhouse, redis, objects, installation })
  } finally {
    redis.disconnect()
    objects.close()
    await clickhouse.close()
  }
}
