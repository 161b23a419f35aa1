import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import { createObjectStore } from '@intake/object-store'
import type { RecordServices, Services } from '@intake/records'
import { connectRedis, readInstallation, withRedisTimeout } from '@intake/redis'
import { findBucket } from './bucket.ts'
import { findClickHouse, findEndpoint, UsageError } from './endpoints.ts'

const connectTimeoutMs = 10_000
const objectTimeoutMs = 30_000
/** Timeout of a statement. It is long, because a statement may scan all tables. */
const statementTimeoutMs = 30 * 60_000

/**
 * Runs `work` with connections to Redis and ClickHouse, and closes them. ClickHouse does not log
 * the statements, because they contain the identifiers that are erased.
 *
 * @param options.statementTimeoutMs timeout of a ClickHouse statement
 * @param options.withoutRedis runs instead of `work` if Redis does not respond; `failure` is the
 * reason. Without this function, `withRecords` rejects with the failure
 */
export async function withRecords<T>(
  work: (services: RecordServices) => Promise<T>,
  options: {
    statementTimeoutMs: number
    withoutRedis?: (clickhouse: ClickHouse, failure: Error) => Promise<T>
  },
): Promise<T> {
  const { withoutRedis } = options
  const failures: Error[] = []
  const clickhouse = createClickHouse({
    ...findClickHouse(),
    requestTimeoutMs: options.statementTimeoutMs,
    logQueries: false,
  })
  const redis = connectRedis({
    url: findEndpoint('REDIS_URL'),
    role: 'consumer',
    onError: (error) => failures.push(error),
  })
  try {
    const installation = await withRedisTimeout(
      redis,
      readInstallation(redis),
      connectTimeoutMs,
    ).catch((error: unknown) =>
      // If Redis is not connected, the last connection error explains more than the timeout does.
      redis.status === 'ready' ? (error as Error) : (failures.at(-1) ?? (error as Error)),
    )
    if (installation instanceof Error) {
      if (withoutRedis === undefined) throw installation
      return await withoutRedis(clickhouse, installation)
    }
    if (installation === null) throw new UsageError('Redis belongs to no installation.')
    return await work({ clickhouse, redis, installation })
  } finally {
    redis.disconnect()
    await clickhouse.close()
  }
}

/**
 * Like `withRecords`, but also connects to the object store of the attachments. Statements have a
 * long timeout, so that they can scan all tables.
 */
export async function withServices<T>(work: (services: Services) => Promise<T>): Promise<T> {
  const bucket = findBucket()
  const run = async (services: RecordServices) => {
    const objects = createObjectStore({ ...bucket, timeoutMs: objectTimeoutMs })
    try {
      return await work({ ...services, objects })
    } finally {
      objects.close()
    }
  }
  return withRecords(run, { statementTimeoutMs })
}
