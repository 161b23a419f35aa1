import { setTimeout as pause } from 'node:timers/promises'
import { ClickHouseError, type ClickHouse, type QueryParams } from '@intake/clickhouse'

const timeoutMs = 120_000

/**
 * Retries queries while ClickHouse reports a transient failure. Under load the embedded engine can
 * fail (with code 107), and the checker must not mistake that for a broken guarantee.
 */
export function patientSql(clickhouse: ClickHouse): ClickHouse {
  return {
    ...clickhouse,
    async query<Row>(sql: string, params?: QueryParams): Promise<Row[]> {
      const until = performance.now() + timeoutMs
      for (;;) {
        try {
          return await clickhouse.query<Row>(sql, params)
        } catch (error) {
          const passes = error instanceof ClickHouseError && error.kind === 'retry'
          if (!passes || performance.now() >= until) throw error
        }
        await pause(250)
      }
    },
  }
}
