import type { ClickHouse } from '@intake/clickhouse'
import { onEveryServer, syncReplicas } from '@intake/schema'
import {
  countTables,
  mergeMonth,
  onlyReported,
  refreshAllCounts,
  type Counter,
} from '../counts/replace-all.ts'

/** The column of a count's period, and its value for a marked hour. */
const periods = [
  { table: 'hours_raw', column: 'hour', period: 'hour' },
  { table: 'days_raw', column: 'day', period: 'toDate(hour)' },
] as const

/**
 * Selects the rows of counts that are older than the last mark of their hour or day
 * (`recountHours`). They may contain names from erased events, or the id of one as an example. Marks
 * of what `refreshCounts` could not count are left out: nothing was erased there.
 */
const outdated = ({ column, period }: (typeof periods)[number], table: string) =>
  `FROM ${table} AS counts INNER JOIN (
     SELECT bundle_identifier, ${period} AS period, max(asked_at) AS asked
     FROM intake.recounts_raw WHERE asked_at <= now64(3, 'UTC') AND toSecond(hour) = 0 GROUP BY bundle_identifier, period
   ) AS marks ON marks.bundle_identifier = counts.bundle_identifier AND marks.period = counts.${column}
   WHERE counts.ver < toUnixTimestamp64Milli(marks.asked)`

/**
 * Counts marked hours and days again, so that no active part of a replica has a former count.
 * `countOutdated` reports what ClickHouse could not replace.
 */
export async function replaceCounts(
  clickhouse: Omit<Counter, 'insertSelect'>,
  onFailed: (reason: string) => void,
): Promise<void> {
  await refreshAllCounts(clickhouse, onFailed)
  for (const one of periods) {
    const months = await clickhouse.query<{ month: number }>(
      `SELECT DISTINCT toYYYYMM(counts.${one.column}) AS month ${outdated(one, `intake.${one.table}`)}`,
    )
    for (const { month } of months) {
      await mergeMonth(clickhouse, one.table, month).catch(onlyReported(onFailed))
    }
  }
  await syncReplicas(clickhouse, countTables)
}

/** Counts the rows that `replaceCounts` has to replace, in whatever part of whatever replica. */
export async function countOutdated(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
): Promise<number> {
  let rows = 0
  for (const one of periods) {
    const table = onEveryServer(clickhouse, `intake.${one.table}`)
    const [found] = await clickhouse.query<{ rows: number }>(
      `SELECT count() AS rows ${outdated(one, table)}`,
    )
    rows += found?.rows ?? 0
  }
  return rows
}
