import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { ClickHouseError, type ClickHouse } from '@intake/clickhouse'

/** Two migrators may run at once, so every statement can be repeated (IF NOT EXISTS). */
export interface Migration {
  name: string
  statements: readonly string[]
}

const folder = new URL('../../migrations/', import.meta.url)

/** In the order of their names. A released migration never changes: add another file. */
export const migrations: readonly Migration[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .toSorted()
  .map((file) => ({
    name: basename(file, '.sql'),
    statements: splitStatements(readFileSync(new URL(file, folder), 'utf8')),
  }))

/** A statement ends with a semicolon and a line break. A line with `--` is a comment. */
function splitStatements(sql: string): string[] {
  return sql
    .replaceAll('\r\n', '\n')
    .replace(/^--.*\n/gm, '')
    .split(/;\s*\n/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

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
