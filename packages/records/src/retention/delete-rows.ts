import { sqlTime, type ClickHouse, type QueryParams } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { pause } from '@intake/runtime'
import { alterStored, storedTable } from '@intake/schema'
import { readMutations } from '../erasure/delete-payloads.ts'
import { removeObjectsOf } from '../erasure/remove-objects.ts'
import type { Services } from '../services.ts'
import { partitioned } from './drop-months.ts'

/** Records of some applications whose retention is shorter than the general one. */
export interface ExpiredScope {
  kind: RecordKind
  /** Records with an earlier `time` are expired. */
  before: Date
  bundles: readonly string[]
}

/** How many rows of an application are expired, in each month (`YYYYMM`). Every version counts. */
export interface ExpiredRows {
  kind: RecordKind
  bundleIdentifier: string
  month: string
  rows: number
}

const pollMs = 500

const condition = ({ before, bundles }: ExpiredScope): { sql: string; params: QueryParams } => ({
  sql: `bundle_identifier IN {bundles:Array(String)} AND time < {before:DateTime64(3, 'UTC')}`,
  params: { bundles, before: sqlTime(before) },
})

export async function findExpiredRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: ExpiredScope,
): Promise<ExpiredRows[]> {
  const { kind } = scope
  const { sql, params } = condition(scope)
  const tables = partitioned[kind].map(
    (table) => `SELECT bundle_identifier, time FROM intake.${table} WHERE ${sql}`,
  )
  const found = await clickhouse.query<Omit<ExpiredRows, 'kind'>>(
    `SELECT bundle_identifier AS bundleIdentifier, toString(toYYYYMM(time)) AS month, count() AS rows
     FROM (${tables.join(' UNION ALL ')}) GROUP BY bundleIdentifier, month ORDER BY bundleIdentifier, month`,
    params,
  )
  return found.map((one) => ({ kind, ...one }))
}

/**
 * Deletes every version, so that no hidden one reappears. The next call deletes what an interrupted
 * one has left.
 * @throws {Error} while ClickHouse still rewrites a month
 */
export async function deleteExpiredRows(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  scope: ExpiredScope,
  options: { months: readonly string[]; timeoutMs: number },
): Promise<number> {
  const { clickhouse } = services
  const { kind } = scope
  const { sql, params } = condition(scope)
  // Objects first, because the rows say which they are.
  const objects = kind === 'feedback' ? await removeObjectsOf(services, { sql, params }) : 0
  for (const month of options.months) {
    for (const table of partitioned[kind]) {
      await untilRewritten(clickhouse, table, options.timeoutMs)
      const remove = `DELETE IN PARTITION ID '${month}' WHERE ${sql} SETTINGS mutations_sync = 0`
      await clickhouse.command(alterStored(clickhouse, table, remove), params)
      await untilRewritten(clickhouse, table, options.timeoutMs)
    }
  }
  return objects
}

/** Waits until ClickHouse has done all mutations of a table, also those of an earlier command. */
async function untilRewritten(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  table: string,
  timeoutMs: number,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const { mutations, failure } = await readMutations(clickhouse, [storedTable(clickhouse, table)])
    if (mutations === 0) return
    if (performance.now() >= deadline) {
      throw new Error(
        `ClickHouse is still rewriting intake.${table}: run intake retention apply again later. ${failure}`,
      )
    }
    await pause(pollMs)
  }
}
