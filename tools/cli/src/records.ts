import { createClickHouse, type ClickHouse } from '@intake/clickhouse'
import type { RecordServices } from '@intake/records'
import { readInstallation } from '@intake/redis'
import { findClickHouse, requireResponse } from './clickhouse.ts'
import { UsageError } from './endpoints.ts'
import { openRedis } from './with-redis.ts'

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
  const server = await findClickHouse()
  await requireResponse(server, options.statementTimeoutMs)
  const clickhouse = createClickHouse({
    ...server,
    requestTimeoutMs: options.statementTimeoutMs,
    logQueries: false,
  })
  const { redis, ask } = await openRedis()
  try {
    const installation = await ask(readInstallation(redis)).catch((error: Error) => error)
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
