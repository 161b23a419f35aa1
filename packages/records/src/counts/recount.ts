import type { ClickHouse, QueryParams } from '@intake/clickhouse'

/** Hours need a mark if their records change by something other than an arrival. */
export async function recountHours(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  condition: { sql: string; params: QueryParams },
): Promise<void> {
  await clickhouse.insertSelect(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT DISTINCT bundle_identifier, toStartOfHour(time) FROM intake.logs_raw WHERE ${condition.sql}`,
    condition.params,
  )
}
