import {
  countExpiredDeadLetters,
  findExpiredRows,
  listExpiredMonths,
  readPeriods,
  type ApplicationPeriod,
  type ExpiredRows,
  type ExpiredScope,
  type RetentionKind,
  type Services,
} from '@intake/records'
import { attachmentPrefix, dayMs, kinds, limits } from '@intake/contract'

export interface Expired {
  /** The months whose rows are expired, as `YYYYMM`. */
  logs: string[]
  feedback: string[]
  counts: string[]
  /** Rows of applications with shorter periods, in months that are not expired as a whole. */
  applications: ExpiredRows[]
  deadLetters: number
  objects: number
}

export interface Expiry {
  /** For each kind, the time before which its data is expired; undefined if it never expires. */
  before: Record<RetentionKind, Date | undefined>
  applications: ExpiredScope[]
}

/** ClickHouse refuses parameters of more than 128 KiB, and identifiers have up to a kilobyte. */
const applicationsMax = 100

export async function readExpiry(
  { clickhouse }: Pick<Services, 'clickhouse'>,
  now: Date,
): Promise<Expiry> {
  const { general, applications } = await readPeriods(clickhouse)
  const before = Object.entries(general).map(([kind, days]) => [
    kind,
    days === undefined ? undefined : new Date(now.getTime() - days * dayMs),
  ])
  return {
    before: Object.fromEntries(before) as Expiry['before'],
    applications: [...scopesOf(applications, now)],
  }
}

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
  const monthsOf = async (kind: 'logs' | 'feedback' | 'counts') =>
    before[kind] === undefined ? [] : listExpiredMonths(clickhouse, kind, before[kind])
  const expired: Expired = {
    logs: await monthsOf('logs'),
    feedback: await monthsOf('feedback'),
    counts: await monthsOf('counts'),
    applications: [],
    deadLetters: 0,
    objects: 0,
  }
  for (const scope of applications) {
    const found = await findExpiredRows(clickhouse, scope)
    expired.applications.push(...found.filter(({ kind, month }) => !expired[kind].includes(month)))
  }
  for (const prefix of expiredPrefixes(before.feedback)) {
    for await (const _ of objects.list(prefix)) expired.objects++
  }
  const failed = before['dead-letters']
  if (failed !== undefined) expired.deadLetters = await countExpiredDeadLetters(clickhouse, failed)
  return expired
}

/**
 * The prefixes of the keys of objects in expired months, from the earliest month that a record can
 * have. Even a month without rows may have objects: an earlier `intake retention apply` can end
 * after it has dropped the rows and before it has removed the objects.
 */
export function* expiredPrefixes(before: Date | undefined): Generator<string> {
  if (before === undefined) return
  for (let month = new Date(limits.recordTimeMs.after); ;) {
    const next = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1))
    if (next > before) return
    yield attachmentPrefix(month.toISOString().slice(0, 7))
    month = next
  }
}
