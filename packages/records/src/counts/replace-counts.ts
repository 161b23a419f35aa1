import { ClickHouseError, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { onEveryServer, syncReplicas } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { isExpired, type Expiry } from '../retention/periods.ts'
import { countNames, refreshCounts } from './refresh-counts.ts'

/**
 * The tables of counts. `ofMark` is the period of a marked hour, `kept` what a final count has in
 * its columns. On a cluster every server holds these tables completely, under these names.
 */
const counts = [
  {
    table: 'hours_raw',
    period: 'hour',
    ofMark: 'hour',
    columns: 'new_names, event_counts',
    kept: 'new_names, event_counts',
  },
  {
    table: 'days_raw',
    period: 'day',
    ofMark: 'toDate(hour)',
    columns: 'new_names, entries, warnings',
    kept: `new_names, entries, arrayMap(one -> (one.1, one.2, one.3, one.4, one.5, one.6, one.7, toUUID('00000000-0000-0000-0000-000000000000')), warnings)`,
  },
] as const
type Count = (typeof counts)[number]

export const countTables = counts.map(({ table }) => table)

type Counter = Pick<ClickHouse, 'query' | 'lines' | 'insertRows' | 'command' | 'cluster'>

/** Counts again what has changed, for every replica, and reports what cannot be counted. */
async function refreshAllCounts(
  clickhouse: Counter,
  onFailed: (reason: string) => void,
): Promise<void> {
  await syncReplicas(clickhouse, ['logs_raw', 'recounts_raw'])
  for (const name of countNames) {
    const all = { reader: clickhouse, store: clickhouse, name, lateMsMax: Infinity }
    const counted = refreshCounts(all)
    await counted.catch(onlyReported(onFailed))
  }
  await syncReplicas(clickhouse, countTables)
}

/** Removes former counts from disk: a month has them only until it is merged. */
const mergeMonth = (clickhouse: Counter, table: string, month: number): Promise<void> =>
  clickhouse.command(`OPTIMIZE TABLE intake.${table} PARTITION ID '${month}' FINAL`)

/** Returns a handler that reports errors of ClickHouse, and throws others. */
const onlyReported =
  (report: (reason: string) => void) =>
  (error: unknown): void => {
    if (!(error instanceof ClickHouseError)) throw error
    report(error.message)
  }

/**
 * Selects the rows of counts that are older than the last mark of their hour or day
 * (`recountHours`). They may contain names from erased events, or the id of one as an example. Marks
 * of what `refreshCounts` could not count are left out: nothing was erased there.
 */
const outdated = ({ period, ofMark }: Count, table: string) =>
  `FROM ${table} AS counts INNER JOIN (
     SELECT bundle_identifier, ${ofMark} AS period, max(asked_at) AS asked
     FROM intake.recounts_raw WHERE asked_at <= now64(3, 'UTC') AND toSecond(hour) = 0 GROUP BY bundle_identifier, period
   ) AS marks ON marks.bundle_identifier = counts.bundle_identifier AND marks.period = counts.${period}
   WHERE counts.ver < toUnixTimestamp64Milli(marks.asked)`

/**
 * Counts marked hours and days again, so that no active part of a replica has a former count.
 * `countOutdated` reports what ClickHouse could not replace.
 */
export async function replaceCounts(
  clickhouse: Counter,
  onFailed: (reason: string) => void,
): Promise<void> {
  await refreshAllCounts(clickhouse, onFailed)
  for (const one of counts) {
    const months = await clickhouse.query<{ month: number }>(
      `SELECT DISTINCT toYYYYMM(counts.${one.period}) AS month ${outdated(one, `intake.${one.table}`)}`,
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
  for (const one of counts) {
    const table = onEveryServer(clickhouse, `intake.${one.table}`)
    rows += await countRows(clickhouse, outdated(one, table))
  }
  return rows
}

/** The version of a final count, which is the highest possible one: no later count replaces it. */
const finalVer = '18446744073709551615'

/**
 * Makes the counts of logs that are about to be dropped final, without traces of single devices and
 * records: `refreshCounts` may count such an hour again, but cannot replace the final count.
 */
export async function keepCounts(
  clickhouse: Counter & Pick<ClickHouse, 'insertSelect'>,
  { before, applications }: Expiry,
  onFailed: (reason: string) => void,
): Promise<void> {
  const dropped = (period: string) => {
    const { sql, params } = isExpired(applications, 'logs', period)
    return {
      sql: `(${period} < {before:DateTime64(3, 'UTC')} OR ${sql})`,
      params: { ...params, before: sqlTime(before.logs ?? new Date(0)) },
    }
  }
  // `refreshCounts` leaves out what it has postponed; later there is nothing left to count.
  const postponed = dropped('hour')
  await clickhouse.insertSelect(
    `INSERT INTO intake.recounts_raw (bundle_identifier, hour)
     SELECT bundle_identifier, toStartOfHour(hour) FROM intake.recounts
     WHERE asked_at > now64(3, 'UTC') AND ${postponed.sql}`,
    postponed.params,
  )
  await refreshAllCounts(clickhouse, onFailed)
  for (const { table, period, columns, kept } of counts) {
    const key = `bundle_identifier, ${period}`
    const { sql, params } = dropped(period)
    await clickhouse.insertSelect(
      `INSERT INTO intake.${table} (${key}, ${columns}, ver)
       SELECT ${key}, ${kept}, ${finalVer} FROM intake.${table} FINAL
       WHERE ver < ${finalVer} AND ${sql}
       SETTINGS max_partitions_per_insert_block = 0`,
      params,
    )
    const months = await clickhouse.query<{ month: number }>(
      `SELECT DISTINCT toYYYYMM(${period}) AS month FROM intake.${table}
       WHERE ver < ${finalVer} AND (${key}) IN (SELECT ${key} FROM intake.${table} WHERE ver = ${finalVer})`,
    )
    for (const { month } of months) await mergeMonth(clickhouse, table, month)
  }
  await syncReplicas(clickhouse, countTables)
}
