import type { ClickHouse } from '@intake/clickhouse'
import type { RecordServices } from '@intake/records'
import { readInstallation } from '@intake/redis'
import { requireSameInstallation } from '@intake/schema'
import { withClickHouse } from './clickhouse.ts'
import { UsageError } from './endpoints.ts'
import { openRedis } from './with-redis.ts'

/**
 * ClickHouse does not log statements, because identifiers would stay there after an erasure.
 * `withoutRedis` runs instead of `work` if Redis does not respond, or has lost its data.
 */
export function withRecords<T>(
  work: (services: RecordServices) => Promise<T>,
  options: {
    statementTimeoutMs: number
    withoutRedis?: (clickhouse: ClickHouse, failure: Error) => Promise<T>
  },
): Promise<T> {
  const { statementTimeoutMs: requestTimeoutMs, withoutRedis } = options
  const run = async (clickhouse: ClickHouse) => {
    const { redis, ask } = await openRedis()
    try {
      const installation = await ask(readInstallation(redis)).catch((error: Error) => error)
      if (typeof installation === 'string') {
        await requireSameInstallation(installation, clickhouse)
        return await work({ clickhouse, redis, installation })
      }
      const failure = installation ?? new UsageError('Redis belongs to no installation.')
      if (withoutRedis === undefined) throw failure
      return await withoutRedis(clickhouse, failure)
    } finally {
      redis.disconnect()
    }
  }
  return withClickHouse(run, { requestTimeoutMs, logQueries: false })
}
