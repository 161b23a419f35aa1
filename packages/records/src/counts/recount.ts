import type { ClickHouse, QueryParams } from '@intake/clickhouse'

/**
 * Marks hours of log events, so that they are counted again. A mark is needed if their records
 * change by something other than an arrival, such as an erasure or a replay.
 *
 * @param condition selects the rows of the changed records in `intake.logs_raw`
 */
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
