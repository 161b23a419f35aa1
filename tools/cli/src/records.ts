import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import type { RecordServices } from '@intake/records'
import { connectRedis, readInstallation, withRedisTimeout } from '@intake/redis'
import { findClickHouse } from './clickhouse.ts'
import { findEndpoint, UsageError } from './endpoints.ts'
import { redisFailure } from './redis-failure.ts'

const connectTimeoutMs = 10_000

/**
 * ClickHouse does not log statements, because identifiers would stay there after an erasure.
 * `withoutRedis` runs instead of `work` if Redis does not respond.
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
    ...(await findClickHouse()),
    requestTimeoutMs: options.statementTimeoutMs,
    logQueries: false,
  })
  const redis = connectRedis({
    url: await findEndpoint('REDIS_URL'),
    role: 'consumer',
    onError: (error) => failures.push(error),
  })
  try {
    const installation = await withRedisTimeout(
      redis,
      readInstallation(redis),
      connectTimeoutMs,
    ).catch((error: unknown) => {
      // If Redis is not connected, the last connection error explains more than the timeout does.
      const failure = redis.status === 'ready' ? undefined : failures.at(-1)
      return failure === undefined ? (error as Error) : redisFailure(failure)
    })
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
