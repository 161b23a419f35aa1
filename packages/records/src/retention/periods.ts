import type { ClickHouse } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'

export const retentionKinds = ['logs', 'feedback', 'dead-letters', 'counts'] as const
export type RetentionKind = (typeof retentionKinds)[number]

/** In days; undefined: without limit. Counts are kept at least as long as logs. */
export type Retention = Record<RetentionKind, number | undefined>

/** For how many days the records of an application are kept, if that is shorter than `Retention`. */
export interface ApplicationPeriod {
  kind: RecordKind
  bundleIdentifier: string
  days: number
}

async function readRetention(clickhouse: Pick<ClickHouse, 'query'>): Promise<Retention> {
  const rows = await clickhouse.query<{ kind: RetentionKind; days: number }>(
    'SELECT kind, days FROM intake.retention FINAL',
  )
  const stored = new Map(rows.map((row) => [row.kind, row.days]))
  const of = (kind: RetentionKind) => stored.get(kind) || undefined
  const logs = of('logs')
  const counts = logs && Math.max(logs, stored.get('counts') === 0 ? Infinity : (of('counts') ?? 0))
  return {
    logs,
    feedback: of('feedback'),
    'dead-letters': of('dead-letters'),
    counts: counts === Infinity ? undefined : counts,
  }
}

export async function writeRetention(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  kind: RetentionKind,
  days: number | undefined,
): Promise<void> {
  await clickhouse.insertSelect(
    'INSERT INTO intake.retention (kind, days) SELECT {kind:String}, {days:UInt32}',
    { kind, days: days ?? 0 },
  )
}

export interface Periods {
  general: Retention
  applications: ApplicationPeriod[]
}

export const readPeriods = async (clickhouse: Pick<ClickHouse, 'query'>): Promise<Periods> => ({
  general: await readRetention(clickhouse),
  applications: await readApplicationPeriods(clickhouse),
})

async function readApplicationPeriods(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<ApplicationPeriod[]> {
  return clickhouse.query<ApplicationPeriod>(
    `SELECT kind, bundle_identifier AS bundleIdentifier, days FROM intake.application_retention FINAL
     WHERE days > 0 ORDER BY kind, bundle_identifier`,
  )
}

/** @param period.days undefined: the general period applies */
export async function writeApplicationPeriod(
  clickhouse: Pick<ClickHouse, 'insertSelect'>,
  {
    kind,
    bundleIdentifier,
    days = 0,
  }: Omit<ApplicationPeriod, 'days'> & { days?: number | undefined },
): Promise<void> {
  await clickhouse.insertSelect(
    `INSERT INTO intake.application_retention (kind, bundle_identifier, days)
     SELECT {kind:String}, {bundleIdentifier:String}, {days:UInt32}`,
    { kind, bundleIdentifier, days },
  )
}
