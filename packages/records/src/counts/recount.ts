import type { ClickHouse } from '@intake/clickhouse'
import type { Condition } from '../erasure/subject.ts'

/** Hours need a mark if their records change by something other than an arrival. */
export async function recountHours(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  condition: Condition,
): Promise<void> {
  await clickhouse.insertSelect(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT DISTINCT bundle_identifier, toStartOfHour(time) FROM intake.logs_raw WHERE ${condition.sql}`,
    condition.params,
  )
}
