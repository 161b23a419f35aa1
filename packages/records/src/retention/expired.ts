import { isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { attachmentPrefix, kinds, type RecordKind } from '@intake/contract'
import { alterStored, storedTable, systemTable } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { removeObjects, removeObjectsOf } from '../erasure/remove-objects.ts'
import type { Services } from '../services.ts'
import { ends, isExpired, type Expiry } from './periods.ts'

/** The tables whose months are dropped, by kind. */
const partitioned = {
  logs: ['logs_raw'],
  feedback: ['feedback_raw', 'attachments_raw'],
  counts: ['hours_raw', 'days_raw', 'outcomes_raw'],
} as const

type MonthlyKind = keyof typeof partitioned
export const monthlyKinds = [...kinds, 'counts'] as const

/** What is expired: a report of what was dropped, or of what would be. */
export interface Expired extends Record<MonthlyKind, string[]> {
  /** Every version counts. Months that are expired as a whole are left out. */
  applications: {
    kind: RecordKind
    bundleIdentifier: string
    month: string
    rows: number
    /** Rows with an earlier `time` are dropped; ISO 8601. */
    before: string
  }[]
  deadLetters: number
}

export async function findExpired(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  { before, applications }: Expiry,
): Promise<Expired> {
  const expired: Expired = { logs: [], feedback: [], counts: [], applications: [], deadLetters: 0 }
  for (const kind of monthlyKinds) {
    if (before[kind]) expired[kind] = await listExpiredMonths(clickhouse, kind, before[kind])
  }
  for (const kind of kinds) {
    const found = await findExpiredRows(clickhouse, kind, applications)
    expired.applications.push(...found.filter(({ month }) => !expired[kind].includes(month)))
  }
  const letters = before['dead-letters']
  if (letters !== undefined) {
    const from = `FROM intake.dead_letters_raw WHERE ${expiredLetters}`
    expired.deadLetters = await countRows(clickhouse, from, { before: sqlTime(letters) })
  }
  return expired
}

/**
 * Drops what `findExpired` has found: objects first, because the rows say which they are. Resolves
 * to their number. ClickHouse rewrites the parts with single rows later.
 */
export async function dropExpired(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  { before, applications }: Expiry,
  expired: Expired,
): Promise<number> {
  const { clickhouse, objects } = services
  let removed = 0
  for (const month of expired.feedback) {
    const period = `${month.slice(0, 4)}-${month.slice(4)}`
    removed += await removeObjects(objects, attachmentPrefix(period))
  }
  for (const kind of monthlyKinds) await dropMonths(clickhouse, kind, expired[kind])
  for (const kind of kinds) {
    const condition = isExpired(applications, kind)
    const months = expired.applications.filter((one) => one.kind === kind).map((one) => one.month)
    if (kind === 'feedback' && months.length > 0) {
      removed += await removeObjectsOf(services, condition)
    }
    for (const month of new Set(months)) {
      for (const table of partitioned[kind]) {
        // Every version, so that no hidden one reappears.
        const remove = `DELETE IN PARTITION ID '${month}' WHERE ${condition.sql}`
        await clickhouse.command(alterStored(clickhouse, table, remove), condition.params)
      }
    }
  }
  const letters = before['dead-letters']
  if (expired.deadLetters > 0 && letters !== undefined) {
    const remove = alterStored(clickhouse, 'dead_letters_raw', `DELETE WHERE ${expiredLetters}`)
    await clickhouse.command(remove, { before: sqlTime(letters) })
  }
  return removed
}

/** Lists the months (`YYYYMM`, UTC) that have stored rows and end at or before `before`. */
export async function listExpiredMonths(
  clickhouse: Pick<ClickHouse, 'query' | 'cluster'>,
  kind: MonthlyKind,
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
  kind: MonthlyKind,
  months: readonly string[],
): Promise<void> {
  for (const month of months) {
    const drop = `DROP PARTITION ID '${month}' SETTINGS max_partition_size_to_drop = 0`
    for (const table of partitioned[kind]) {
      await clickhouse.command(alterStored(clickhouse, table, drop))
    }
  }
}

async function findExpiredRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  kind: RecordKind,
  applications: Expiry['applications'],
): Promise<Expired['applications']> {
  const { sql, params } = isExpired(applications, kind)
  const tables = partitioned[kind].map(
    (table) => `SELECT bundle_identifier, time FROM intake.${table} WHERE ${sql}`,
  )
  const rows = await clickhouse.query<Expired['applications'][number]>(
    `SELECT '${kind}' AS kind, bundle_identifier AS bundleIdentifier, toString(toYYYYMM(time)) AS month,
       count() AS rows, toString(${ends}[bundleIdentifier]) AS before
     FROM (${tables.join(' UNION ALL ')}) GROUP BY bundleIdentifier, month ORDER BY bundleIdentifier, month`,
    params,
  )
  return rows.map((row) => ({ ...row, before: isoTime(row.before) }))
}

/**
 * Dead letters that failed, or were resolved, before `before`: an export has to see that one was
 * resolved. Tombstones are kept.
 */
const expiredLetters = "ver < toUnixTimestamp64Milli({before:DateTime64(3, 'UTC')})"
