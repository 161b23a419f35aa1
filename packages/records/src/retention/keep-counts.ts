import { sqlTime } from '@intake/clickhouse'
import { syncReplicas } from '@intake/schema'
import { countTables, mergeMonth, refreshAllCounts, type Counter } from '../counts/replace-all.ts'

/** Records that are about to be dropped: of some applications, or of all. */
export interface Dropped {
  /** Midnight UTC. Records with an earlier `time` are dropped. */
  before: Date
  /** Undefined: all applications. */
  bundles?: readonly string[]
}

/** The version of a kept count, which is the highest possible one: no later count replaces it. */
const keptVer = '18446744073709551615'

/** What a kept count has. It has no trace of single devices or records. */
const keptColumns = [
  { table: 'hours_raw', period: 'hour', columns: 'new_names, event_counts', kept: '' },
  {
    table: 'days_raw',
    period: 'day',
    columns: 'new_names, entries, warnings',
    kept: `new_names, entries, arrayMap(one -> (one.1, one.2, one.3, one.4, one.5, one.6, one.7, toUUID('00000000-0000-0000-0000-000000000000')), warnings)`,
  },
] as const

/**
 * Makes counts final, without traces of single devices and records: `refreshCounts` may count such
 * an hour again, but cannot replace the final count.
 */
export async function keepCounts(
  clickhouse: Counter,
  dropped: readonly Dropped[],
  onFailed: (reason: string) => void,
): Promise<void> {
  await refreshAllCounts(clickhouse, onFailed)
  for (const { table, period, columns, kept } of keptColumns) {
    const key = `bundle_identifier, ${period}`
    for (const { before, bundles } of dropped) {
      const ofThese =
        bundles === undefined ? '' : 'AND bundle_identifier IN {bundles:Array(String)}'
      await clickhouse.insertSelect(
        `INSERT INTO intake.${table} (${key}, ${columns}, ver)
         SELECT ${key}, ${kept || columns}, ${keptVer} FROM intake.${table} FINAL
         WHERE ver < ${keptVer} AND ${period} < {before:DateTime64(3, 'UTC')} ${ofThese}
         SETTINGS max_partitions_per_insert_block = 0`,
        { before: sqlTime(before), ...(bundles && { bundles }) },
      )
    }
    const months = await clickhouse.query<{ month: number }>(
      `SELECT DISTINCT toYYYYMM(${period}) AS month FROM intake.${table}
       WHERE ver < ${keptVer} AND (${key}) IN (SELECT ${key} FROM intake.${table} WHERE ver = ${keptVer})`,
    )
    for (const { month } of months) await mergeMonth(clickhouse, table, month)
  }
  await syncReplicas(clickhouse, countTables)
}
