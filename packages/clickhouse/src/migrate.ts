import { createHash } from 'node:crypto'
import type { ClickHouse } from './client.ts'
import { migrations as released } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

export interface MigrateOptions {
  clickhouse: ClickHouse
  /** Default: the migrations of this release. */
  migrations?: readonly Migration[]
}

/**
 * The recorded history and the migrations of this release contradict each other. The message is for an
 * operator.
 */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

const checksumOf = (migration: Migration) =>
  createHash('sha256').update(JSON.stringify(migration.statements)).digest('hex')

const prepare = [
  'CREATE DATABASE IF NOT EXISTS intake',
  `CREATE TABLE IF NOT EXISTS intake.schema_migrations (
  name String,
  checksum String,
  applied_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree
ORDER BY (name, checksum)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
]

const record = `INSERT INTO intake.schema_migrations (name, checksum)
SELECT {name:String}, {checksum:String}`

/**
 * Updates the schema to this release and returns the names of the applied migrations, in order. It is
 * harmless to run it again, concurrently, or after a crash in the middle. Rejects with a
 * `MigrationError`, before changing anything, when a migration differs from its applied form.
 */
export const migrate = async (options: MigrateOptions): Promise<{ applied: string[] }> => {
  const { clickhouse, migrations = released } = options
  for (const statement of prepare) await clickhouse.command(statement)
  const rows = await clickhouse.query<{ name: string; checksum: string }>(
    'SELECT DISTINCT name, checksum FROM intake.schema_migrations',
  )
  const known = new Map(rows.map(({ name, checksum }) => [name, checksum]))

  const changed = migrations.filter(
    (migration) => known.has(migration.name) && known.get(migration.name) !== checksumOf(migration),
  )
  if (changed.length > 0) {
    const names = changed.map(({ name }) => name).join(', ')
    throw new MigrationError(
      `The tables in ClickHouse were created by another version of Intake (${names}) and cannot be used by ` +
        'this one: drop the database intake with all its data (with Docker Compose: docker compose ' +
        'down --volumes, which deletes all data), or set CLICKHOUSE_URL to another server.',
    )
  }

  const applied: string[] = []
  for (const migration of migrations) {
    if (known.has(migration.name)) continue
    for (const statement of migration.statements) await clickhouse.command(statement)
    await clickhouse.command(record, { name: migration.name, checksum: checksumOf(migration) })
    applied.push(migration.name)
  }
  return { applied }
}
