import type { ClickHouse } from './client.ts'
import { sqlTime } from './erasure/subject.ts'
import { tombstoneVer } from './erasure/tombstones.ts'

export const retentionKinds = ['logs', 'feedback', 'dead-letters'] as const
export type RetentionKind = (typeof retentionKinds)[number]

/** For how many days records are kept; undefined: for ever. */
export type Retention = Record<RetentionKind, number | undefined>

const partitioned = { logs: 'logs_raw', feedback: 'feedback_raw' } as const

export async function readRetention(clickhouse: Pick<ClickHouse, 'query'>): Promise<Retention> {
  const rows = await clickhouse.query<{ kind: RetentionKind; days: number }>(
    'SELECT kind, days FROM intake.retention FINAL',
  )
  const days = new Map(rows.map((row) => [row.kind, row.days]))
  return Object.fromEntries(
    retentionKinds.map((kind) => [kind, days.get(kind) || undefined]),
  ) as Retention
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

/**
 * Drops the months of `time` whose last moment lies before `before`; tombstones, too. Resolves to the
 * months (`YYYYMM`). A part of a month is never dropped, so no hidden version reappears.
 */
export async function dropMonths(
  clickhouse: Pick<ClickHouse, 'query' | 'command'>,
  kind: keyof typeof partitioned,
  before: Date,
): Promise<string[]> {
  const table = partitioned[kind]
  const partitions = await clickhouse.query<{ month: string }>(
    `SELECT DISTINCT partition_id AS month FROM system.parts
     WHERE database = 'intake' AND table = {table:String} AND active ORDER BY month`,
    { table },
  )
  const expired = partitions.map(({ month }) => month).filter((month) => monthEnd(month) <= before)
  for (const month of expired) {
    await clickhouse.command(
      `ALTER TABLE intake.${table} DROP PARTITION ID '${month}'
       SETTINGS max_partition_size_to_drop = 0`,
    )
  }
  return expired
}

/** @param month `YYYYMM`; returns its end, excluded */
function monthEnd(month: string): Date {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4))))
}

/**
 * Starts to delete the dead letters that failed before `before`; resolves to their number. Those of erased
 * records keep their tombstones.
 */
export async function deleteDeadLetters(
  clickhouse: Pick<ClickHouse, 'query' | 'command'>,
  before: Date,
): Promise<number> {
  const where = `ver < ${tombstoneVer} AND failed_at < {before:DateTime64(3)}`
  const params = { before: sqlTime(before) }
  const [row] = await clickhouse.query<{ rows: number }>(
    `SELECT count() AS rows FROM intake.dead_letters_raw WHERE ${where}`,
    params,
  )
  const rows = row?.rows ?? 0
  if (rows > 0) {
    await clickhouse.command(`ALTER TABLE intake.dead_letters_raw DELETE WHERE ${where}`, params)
  }
  return rows
}
