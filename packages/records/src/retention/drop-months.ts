import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { alterStored, storedTable, systemTable } from '@intake/schema'
import { tombstoneVer } from '../erasure/tombstones.ts'

/** The tables whose months are dropped, by kind. */
export const partitioned = {
  logs: ['logs_raw'],
  feedback: ['feedback_raw', 'attachments_raw'],
  counts: ['hours_raw', 'days_raw'],
} as const

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
  return partitions.map(({ month }) => month).filter((month) => monthEnd(month) <= before)
}

/** All versions of a record are in the same month, so no hidden version reappears. */
export async function dropMonths(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  kind: keyof typeof partitioned,
  months: readonly string[],
): Promise<void> {
  for (const month of months) {
    const drop = `DROP PARTITION ID '${month}'
       SETTINGS max_partition_size_to_drop = 0`
    for (const table of partitioned[kind]) {
      await clickhouse.command(alterStored(clickhouse, table, drop))
    }
  }
}

/** The first moment after a month (`YYYYMM`), in UTC. */
function monthEnd(month: string): Date {
  return new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(4))))
}

const expiredLetters = `ver < ${tombstoneVer} AND failed_at < {before:DateTime64(3, 'UTC')}`

/** Counts the stored rows of dead letters, also of resolved ones, that failed before `before`. */
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

/** Starts to delete expired dead letters. Tombstones of erased dead letters are kept. */
export async function deleteExpiredDeadLetters(
  clickhouse: Pick<ClickHouse, 'command' | 'cluster'>,
  before: Date,
): Promise<void> {
  const remove = alterStored(clickhouse, 'dead_letters_raw', `DELETE WHERE ${expiredLetters}`)
  await clickhouse.command(remove, { before: sqlTime(before) })
}
