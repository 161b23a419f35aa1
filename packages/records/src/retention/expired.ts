import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { attachmentPrefix, dayMs, kinds, limits, type RecordKind } from '@intake/contract'
import { alterStored, storedTable, systemTable } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { untilRewritten } from '../erasure/delete-payloads.ts'
import { removeObjects, removeObjectsOf } from '../erasure/remove-objects.ts'
import type { Condition } from '../erasure/subject.ts'
import type { Services } from '../services.ts'
import {
  readPeriods,
  retentionKinds,
  type ApplicationPeriod,
  type RetentionKind,
} from './periods.ts'

/** The tables whose months are dropped, by kind. */
const partitioned = {
  logs: ['logs_raw'],
  feedback: ['feedback_raw', 'attachments_raw'],
  counts: ['hours_raw', 'days_raw', 'outcomes_raw'],
} as const

type MonthlyKind = keyof typeof partitioned
export const monthlyKinds = [...kinds, 'counts'] as const

/** Records of some applications whose retention is shorter than the general one. */
interface ExpiredScope {
  kind: RecordKind
  /** Records with an earlier `time` are expired. */
  before: Date
  bundles: readonly string[]
}

export interface Expiry {
  /**
   * For each kind, the time before which its data is expired; undefined if it never expires. It is
   * the beginning of a month, except for dead letters.
   */
  before: Record<RetentionKind, Date | undefined>
  applications: ExpiredScope[]
}

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
  objects: number
}

/** ClickHouse refuses parameters of more than 128 KiB, and identifiers have up to a kilobyte. */
const applicationsMax = 100
/** For rewriting a month of one table. */
const rewriteTimeoutMs = 60 * 60_000

export async function readExpiry(
  clickhouse: Pick<ClickHouse, 'query'>,
  now: Date,
): Promise<Expiry> {
  const { general, applications } = await readPeriods(clickhouse)
  const before = retentionKinds.map((kind) => {
    const { [kind]: days } = general
    if (days === undefined) return [kind, undefined]
    const end = new Date(now.getTime() - days * dayMs)
    return [kind, kind === 'dead-letters' ? end : startOfMonth(end, 0)]
  })
  return {
    before: Object.fromEntries(before) as Expiry['before'],
    applications: [...scopesOf(applications, now)],
  }
}

const startOfMonth = (time: Date, months: number) =>
  new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth() + months))

/**
 * Applications with the same period share statements, so a month is rewritten once for all. Their
 * records are dropped by whole days (UTC), so that it is rewritten once a day.
 */
function* scopesOf(periods: readonly ApplicationPeriod[], now: Date): Generator<ExpiredScope> {
  for (const kind of kinds) {
    const ofKind = periods.filter((one) => one.kind === kind)
    for (const days of new Set(ofKind.map((one) => one.days))) {
      const before = new Date((Math.floor(now.getTime() / dayMs) - days) * dayMs)
      const bundles = ofKind.filter((one) => one.days === days).map((one) => one.bundleIdentifier)
      for (let at = 0; at < bundles.length; at += applicationsMax) {
        yield { kind, before, bundles: bundles.slice(at, at + applicationsMax) }
      }
    }
  }
}

export async function findExpired(
  { clickhouse, objects }: Pick<Services, 'clickhouse' | 'objects'>,
  { before, applications }: Expiry,
): Promise<Expired> {
  const expired: Expired = {
    logs: [],
    feedback: [],
    counts: [],
    applications: [],
    deadLetters: 0,
    objects: 0,
  }
  for (const kind of monthlyKinds) {
    if (before[kind]) expired[kind] = await listExpiredMonths(clickhouse, kind, before[kind])
  }
  for (const scope of applications) {
    const found = await findExpiredRows(clickhouse, scope)
    expired.applications.push(...found.filter(({ kind, month }) => !expired[kind].includes(month)))
  }
  for (const prefix of expiredPrefixes(before.feedback)) {
    for await (const _ of objects.list(prefix)) expired.objects++
  }
  const letters = before['dead-letters']
  if (letters !== undefined) {
    const from = `FROM intake.dead_letters_raw WHERE ${expiredLetters}`
    expired.deadLetters = await countRows(clickhouse, from, { before: sqlTime(letters) })
  }
  return expired
}

/** Drops what `findExpired` has found. Resolves to the number of objects that were removed. */
export async function dropExpired(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  { before, applications }: Expiry,
  options: { expired: Expired; progress: (sentence: string) => void },
): Promise<number> {
  const { clickhouse, objects } = services
  const { expired, progress } = options
  for (const kind of monthlyKinds) await dropMonths(clickhouse, kind, expired[kind])
  let removed = 0
  for (const prefix of expiredPrefixes(before.feedback)) {
    removed += await removeObjects(objects, prefix)
  }
  for (const scope of applications) {
    const { kind, bundles } = scope
    const rows = expired.applications.filter(
      (one) => one.kind === kind && bundles.includes(one.bundleIdentifier),
    )
    if (rows.length === 0) continue
    progress(`deleting ${kind} of ${bundles.join(', ')}`)
    removed += await deleteRows(services, scope, new Set(rows.map(({ month }) => month)))
  }
  const letters = before['dead-letters']
  if (expired.deadLetters > 0 && letters !== undefined) {
    // ClickHouse rewrites the parts later.
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

/**
 * The prefixes of the keys of objects in expired months, from the earliest month that a record can
 * have. Even a month without rows may have objects: an earlier `intake retention apply` can end
 * after it has dropped the rows and before it has removed the objects.
 */
function* expiredPrefixes(before: Date | undefined): Generator<string> {
  if (before === undefined) return
  let month = new Date(limits.recordTimeMs.after)
  for (; month < before; month = startOfMonth(month, 1)) {
    yield attachmentPrefix(month.toISOString().slice(0, 7))
  }
}

const conditionOf = ({ before, bundles }: ExpiredScope): Condition => ({
  sql: `bundle_identifier IN {bundles:Array(String)} AND time < {before:DateTime64(3, 'UTC')}`,
  params: { bundles, before: sqlTime(before) },
})

async function findExpiredRows(
  clickhouse: Pick<ClickHouse, 'query'>,
  scope: ExpiredScope,
): Promise<Expired['applications']> {
  const { sql, params } = conditionOf(scope)
  const tables = partitioned[scope.kind].map(
    (table) => `SELECT bundle_identifier, time FROM intake.${table} WHERE ${sql}`,
  )
  return clickhouse.query(
    `SELECT '${scope.kind}' AS kind, '${scope.before.toISOString()}' AS before, bundle_identifier AS bundleIdentifier, toString(toYYYYMM(time)) AS month,
       count() AS rows
     FROM (${tables.join(' UNION ALL ')}) GROUP BY bundleIdentifier, month ORDER BY bundleIdentifier, month`,
    params,
  )
}

/**
 * Deletes every version, so that no hidden one reappears. Resolves to the number of objects that
 * were removed.
 * @throws {Error} while ClickHouse still rewrites a month
 */
async function deleteRows(
  services: Pick<Services, 'clickhouse' | 'objects'>,
  scope: ExpiredScope,
  months: ReadonlySet<string>,
): Promise<number> {
  const { clickhouse } = services
  const condition = conditionOf(scope)
  // Objects first, because the rows say which they are.
  const objects = scope.kind === 'feedback' ? await removeObjectsOf(services, condition) : 0
  const untilDone = async (table: string) => {
    const wait = { deadline: performance.now() + rewriteTimeoutMs, progress: () => undefined }
    const left = await untilRewritten(clickhouse, [storedTable(clickhouse, table)], wait)
    if (left.parts === 0) return
    throw new Error(
      `ClickHouse is still rewriting intake.${table}: run intake retention apply again later. ${left.failure}`,
    )
  }
  for (const month of months) {
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

/**
 * Dead letters that failed, or were resolved, before `before`: an export has to see that one was
 * resolved. Tombstones are kept.
 */
const expiredLetters = "ver < toUnixTimestamp64Milli({before:DateTime64(3, 'UTC')})"
