import { createHash } from 'node:crypto'
import type { ClickHouse } from '@intake/clickhouse'
import type { Migration } from './migration.ts'

export const checksumOf = (migration: Migration) =>
  createHash('sha256').update(JSON.stringify(migration.statements)).digest('hex')

/** The checksums of the applied migrations, by name. */
export async function readApplied(
  clickhouse: Pick<ClickHouse, 'query'>,
): Promise<Map<string, string>> {
  const rows = await clickhouse.query<{ name: string; checksum: string }>(
    `SELECT name, argMax(checksum, applied_at) AS checksum FROM intake.schema_migrations GROUP BY name`,
  )
  return new Map(rows.map(({ name, checksum }) => [name, checksum]))
}
