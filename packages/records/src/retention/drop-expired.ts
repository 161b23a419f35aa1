import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { alterStored, storedTable, systemTable, tombstoneVer } from '@intake/schema'
import { untilRewritten } from '../erasure/delete-payloads.ts'
import { removeObjectsOf } from '../erasure/remove-objects.ts'
import type { Condition } from '../erasure/subject.ts'
import type { Services } from '../services.ts'

/** The tables whose months are dropped, by kind. */
const partitioned = {
  logs: ['logs_raw'],
  feedback: ['feedback_raw', 'attachments_raw'],
  counts: ['hours_raw', 'days_raw'],
} as const

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

/** Lists the months (`YYYYMM`, UTC) that have stored rows and end at or before `before`. */
export async function listExpiredMonths(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  kind: keyof typeof partitioned,
  before: Date,
): Promise<string[]> {
  const partitions = await clickhouse.query<{ month: string }>(
    `SELECT DISTINCT partition_id AS month FROM ${systemTable(clickhouse, 'parts')}
     WHERE database = 'intake' AND table IN {tables:Array(String)} AND active ORDER BY month`,
    { tables: partitioned[kind].map((table) => storedTable(clickhouse, table)) },
  )
  const end = (month: string) => Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4)))
  return partitions.map(({ month }) => month).filter((month) => end(month) <= before.getTime())
}

/** All versions of a record are in the same month, so no hidden version reappears. */
export async function dropMonths(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  kind: keyof typeof partitioned,
  months: readonly string[],
): Promise<void> {
  for (const month of months) {
    const drop = `DROP PARTITION ID '${month}' SETTINGS max_partition_size_to_drop = 0`
    for (const table of partitioned[kind]) {
      await clickhouse.command(alterStored(clickhouse, table, drop))
    }
  }
}

const conditionOf = ({ before, bundles }: ExpiredScope): Condition => ({
  sql: `bundle_identifier IN {bundles:Array(String)} AND time < {before:DateTime64(3, 'UTC')}`,
  params: { bundles, before: sqlTime(before) },
})

export async function findExpiredRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: ExpiredScope,
): Promise<ExpiredRows[]> {
  const { sql, params } = conditionOf(scope)
  const tables = partitioned[scope.kind].map(
    (table) => `SELECT bundle_identifier, time FROM intake.${table} WHERE ${sql}`,
  )
  return clickhouse.query<ExpiredRows>(
    `SELECT '${scope.kind}' AS kind, bundle_identifier AS bundleIdentifier, toString(toYYYYMM(time)) AS month,
       count() AS rows
     FROM (${tables.join(' UNION ALL ')}) GROUP BY bundleIdentifier, month ORDER BY bundleIdentifier, month`,
    params,
  )
}

/**
 * Deletes every version, so that no hidden one reappears. The next call deletes what an interrupted
 * one has left. Resolves to the number of objects that were removed.
 * @throws {Error} while ClickHouse still rewrites a month
 */
export async function deleteExpiredRows(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  scope: ExpiredScope,
  options: { months: readonly string[]; timeoutMs: number },
): Promise<number> {
  const { clickhouse } = services
  const condition = conditionOf(scope)
  // Objects first, because the rows say which they are.
  const objects = scope.kind === 'feedback' ? await removeObjectsOf(services, condition) : 0
  const untilDone = async (table: string) => {
    const deadline = performance.now() + options.timeoutMs
    const wait = { deadline, progress: () => undefined }
    const left = await untilRewritten(clickhouse, [storedTable(clickhouse, table)], wait)
    if (left.parts === 0) return
    throw new Error(
      `ClickHouse is still rewriting intake.${table}: run intake retention apply again later. ${left.failure}`,
    )
  }
  for (const month of options.months) {
    for (const table of partitioned[scope.kind]) {
      // Also what an earlier command has begun.
      await untilDone(table)
      const remove = `DELETE IN PARTITION ID '${month}' WHERE ${condition.sql} SETTINGS mutations_sync = 0`
      await clickhouse.command(alterStored(clickhouse, table, remove), condition.params)
      await untilDone(table)
    }
  }
  return objects
}

/** Dead letters, also resolved ones, that failed before `before`. Tombstones are kept. */
const expiredLetters = `ver < ${tombstoneVer} AND failed_at < {before:DateTime64(3, 'UTC')}`

export async function countExpiredDeadLetters(
  clickhouse: Pick<ClickHouse, 'query'>,
  before: Date,
): Promise<number> {
  const [row] = await clickhouse.query<{ rows: number }>(
    `SELECT count() AS rows FROM intake.dead_letters_raw WHERE ${expiredLetters}`,
    { before: sqlTime(before) },
  )
  return row?.rows ?? 0
}

/** Starts to delete them; ClickHouse rewrites the parts meanwhile. */
export async function deleteExpiredDeadLetters(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  before: Date,
): Promise<void> {
  const remove = alterStored(clickhouse, 'dead_letters_raw', `DELETE WHERE ${expiredLetters}`)
  await clickhouse.command(remove, { before: sqlTime(before) })
}
