import { nextSetAt, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs, type RecordKind } from '@intake/contract'
import type { Condition } from '../erasure/subject.ts'

export const retentionKinds = ['logs', 'feedback', 'dead-letters', 'counts'] as const
export type RetentionKind = (typeof retentionKinds)[number]

/** For how many days the records of an application are kept, if that is shorter than in general. */
export interface ApplicationPeriod {
  kind: RecordKind
  bundleIdentifier: string
  days: number
}

export interface Periods {
  /** In days; undefined: without limit. Counts are kept at least as long as logs. */
  general: Record<RetentionKind, number | undefined>
  applications: ApplicationPeriod[]
}

export async function readPeriods(clickhouse: Pick<ClickHouse, 'query'>): Promise<Periods> {
  const rows = await clickhouse.query<{ kind: RetentionKind; days: number }>(
    'SELECT kind, days FROM intake.retention FINAL',
  )
  const stored = new Map(rows.map(({ kind, days }) => [kind, days]))
  const of = (kind: RetentionKind) => stored.get(kind) || undefined
  const logs = of('logs')
  const areCountsUnlimited = logs === undefined || stored.get('counts') === 0
  return {
    general: {
      logs,
      feedback: of('feedback'),
      'dead-letters': of('dead-letters'),
      counts: areCountsUnlimited ? undefined : Math.max(logs, of('counts') ?? 0),
    },
    applications: await clickhouse.query(
      `SELECT kind, bundle_identifier AS bundleIdentifier, days FROM intake.application_retention FINAL
       WHERE days > 0 ORDER BY kind, bundle_identifier`,
    ),
  }
}

/** @param period.days undefined: without limit; of an application: the general period applies */
export async function writePeriod(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  period: {
    kind: RetentionKind
    bundleIdentifier?: string | undefined
    days: number | undefined
  },
): Promise<void> {
  const { kind, bundleIdentifier = '', days = 0 } = period
  const [table, column, value] =
    bundleIdentifier === ''
      ? ['retention', '', '']
      : ['application_retention', ', bundle_identifier', ', {bundleIdentifier:String}']
  await clickhouse.insertSelect(
    `INSERT INTO intake.${table} (kind, days${column}, set_at)
     SELECT {kind:String}, {days:UInt32}${value}, ${nextSetAt(table)}`,
    { kind, days, bundleIdentifier },
  )
}

/** What is older than its period at some moment. */
export interface Expiry {
  /**
   * For each kind, the time before which its data is expired; undefined if it never expires. It is
   * the beginning of a month, except for dead letters.
   */
  before: Record<RetentionKind, Date | undefined>
  /** The midnights (UTC) before which records of applications are, so a month is rewritten daily. */
  applications: (Omit<ApplicationPeriod, 'days'> & { before: Date })[]
}

export async function readExpiry(
  clickhouse: Pick<ClickHouse, 'query'>,
  now: Date,
): Promise<Expiry> {
  const { general, applications } = await readPeriods(clickhouse)
  const { 'dead-letters': letters, logs, feedback, counts } = general
  const end = (days: number) => new Date(now.getTime() - days * dayMs)
  const month = (days?: number) => (days === undefined ? undefined : startOfMonth(end(days)))
  return {
    before: {
      logs: month(logs),
      feedback: month(feedback),
      counts: month(counts),
      'dead-letters': letters === undefined ? undefined : end(letters),
    },
    applications: applications.map(({ days, ...one }) => ({
      ...one,
      before: new Date(Math.floor(end(days).getTime() / dayMs) * dayMs),
    })),
  }
}

const startOfMonth = (time: Date) => new Date(Date.UTC(time.getUTCFullYear(), time.getUTCMonth()))

/** SQL for the midnights of applications. */
export const ends = "{ends:Map(String, DateTime64(3, 'UTC'))}"

/** Selects rows of applications whose `time` is before the application's midnight. */
export function isExpired(
  applications: Expiry['applications'],
  kind: RecordKind,
  time = 'time',
): Condition {
  const own = applications.filter((one) => one.kind === kind)
  return {
    sql: `(bundle_identifier IN mapKeys(${ends}) AND ${time} < ${ends}[bundle_identifier])`,
    params: {
      ends: Object.fromEntries(own.map((one) => [one.bundleIdentifier, sqlTime(one.before)])),
    },
  }
}
