import { nextSetAt, type ClickHouse } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'

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
