import type { ClickHouse } from '@intake/clickhouse'
import { digestSql, type IdDigest } from './checksum.ts'

/**
 * The number of rows in the table, duplicates included. The query costs ClickHouse almost nothing.
 */
export async function rowsInserted(sql: ClickHouse, table: string): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(`SELECT count() AS rows FROM ${table}`)
  return row?.rows ?? 0
}

/** The digest of the ids that readers of the table see, without duplicates. */
export async function visibleDigest(sql: ClickHouse, table: string): Promise<IdDigest> {
  const [digest] = await sql.query<IdDigest>(`SELECT ${digestSql} FROM ${table} FINAL`)
  return digest as IdDigest
}

/** Thrown if the visible rows are not exactly the acknowledged events. */
class NotExactError extends Error {
  override name = 'NotExactError'
}

/**
 * Checks that the visible rows are exactly the acknowledged events.
 *
 * @throws {NotExactError} if not
 */
export function requireExact(what: string, acknowledged: IdDigest, visible: IdDigest): void {
  const same =
    acknowledged.count === visible.count &&
    acknowledged.distinct === visible.distinct &&
    acknowledged.count === acknowledged.distinct &&
    acknowledged.checksum === visible.checksum
  if (same) return
  const show = ({ count, distinct, checksum }: IdDigest) =>
    `${count} (${distinct} distinct, checksum ${checksum})`
  throw new NotExactError(`${what}: acknowledged ${show(acknowledged)}, visible ${show(visible)}`)
}
