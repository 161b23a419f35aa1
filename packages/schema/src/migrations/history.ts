import { hash } from 'node:crypto'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'
import type { Migration } from './migration.ts'

export const checksumOf = (migration: Migration) =>
  hash('sha256', JSON.stringify(migration.statements))

/** The error codes of ClickHouse for a table or database that does not exist. */
const absentCodes: ReadonlySet<number | undefined> = new Set([60, 81])

/** The checksums of the applied migrations, by name; undefined if there are no tables yet. */
export async function readApplied(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<Map<string, string> | undefined> {
  try {
    const rows = await clickhouse.query<{ name: string; checksum: string }>(
      `SELECT name, argMax(checksum, applied_at) AS checksum FROM intake.schema_migrations GROUP BY name`,
    )
    return new Map(rows.map(({ name, checksum }) => [name, checksum]))
  } catch (error) {
    if (error instanceof ClickHouseError && absentCodes.has(error.code)) return undefined
    throw error
  }
}
