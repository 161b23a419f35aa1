import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import { syncReplicas } from '@intake/schema'
import { countNames, refreshCounts } from './refresh-counts.ts'

/** On a cluster every server holds these tables completely, under these names. */
export const countTables = ['hours_raw', 'days_raw'] as const

export type Counter = Pick<
  ClickHouse,
  'query' | 'lines' | 'insertRows' | 'insertSelect' | 'command' | 'cluster'
>

/** Counts again what has changed, for every replica, and reports what cannot be counted. */
export async function refreshAllCounts(
  clickhouse: Omit<Counter, 'insertSelect'>,
  onFailed: (reason: string) => void,
): Promise<void> {
  await syncReplicas(clickhouse, ['logs_raw', 'recounts_raw'])
  for (const name of countNames) {
    const counted = refreshCounts({ reader: clickhouse, store: clickhouse, name })
    await counted.catch(onlyReported(onFailed))
  }
  await syncReplicas(clickhouse, countTables)
}

/** Removes former counts from disk: a month has them only until it is merged. */
export const mergeMonth = (
  clickhouse: Pick<ClickHouse, 'command'>,
  table: (typeof countTables)[number],
  month: number,
): Promise<void> =>
  clickhouse.command(`OPTIMIZE TABLE intake.${table} PARTITION ID '${month}' FINAL`)

/** Returns a handler that reports errors of ClickHouse, and throws others. */
export const onlyReported =
  (report: (reason: string) => void) =>
  (error: unknown): void => {
    if (!(error instanceof ClickHouseError)) throw error
    report(error.message)
  }
