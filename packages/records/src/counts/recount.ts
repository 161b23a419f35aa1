import type { ClickHouse } from '@intake/clickhouse'
import type { Condition } from '../erasure/subject.ts'

/** So far apart are the clocks of servers of a cluster, which date tombstones and marks. */
const clockErrorMinutes = 10

/**
 * Marks the hours of tombstones that have no later mark. The erased records say nothing: a merge
 * removes them as soon as they have a tombstone.
 */
export async function recountErased(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  isTombstone: Condition,
): Promise<void> {
  await clickhouse.insertSelect(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT bundle_identifier, hour FROM (
       SELECT bundle_identifier, toStartOfHour(time) AS hour, max(received_at) AS erased_at
       FROM intake.logs_raw WHERE ${isTombstone.sql} GROUP BY bundle_identifier, hour) AS erased
     LEFT JOIN intake.recounts AS marks USING (bundle_identifier, hour)
     WHERE marks.asked_at < erased_at + toIntervalMinute(${clockErrorMinutes})`,
    isTombstone.params,
  )
}

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
