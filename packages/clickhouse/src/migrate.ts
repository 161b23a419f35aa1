import { setTimeout as pause } from 'node:timers/promises'
import type { ClickHouse } from './client.ts'
import { statementsOf } from './definitions/definition.ts'
import { functionStatements } from './definitions/functions.ts'
import { definitions as current } from './definitions/index.ts'
import { ClickHouseError } from './errors.ts'
import { findDifferingViews } from './inspect/schema.ts'
import { checksumOf, readApplied } from './migrations/history.ts'
import { migrations as released } from './migrations/index.ts'
import type { Migration } from './migrations/migration.ts'

export interface MigrateOptions {
  clickhouse: ClickHouse
  /** Default: the migrations of this release. */
  migrations?: readonly Migration[]
  /** Default: the views, functions and comments of this release. */
  definitions?: Migration
}

/**
 * The recorded history and the migrations of this release contradict each other. The message is for an
 * operator.
 */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

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
 * Updates the schema to this release and returns the names of the applied migrations, in order, and
 * `definitions` if the views or comments differ from those applied last. It is
 * harmless to run it again, concurrently, or after a crash in the middle. Rejects with a
 * `MigrationError`, before changing anything, when a migration differs from its applied form.
 */
export const migrate = async (options: MigrateOptions): Promise<{ applied: string[] }> => {
  const { clickhouse, migrations = released, definitions = current } = options
  for (const statement of prepare) await clickhouse.command(statement)
  const known = await readApplied(clickhouse)

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

  // They belong to the server: a restored database comes without them.
  await apply(clickhouse, functionStatements)
  const pending = migrations.filter(({ name }) => !known.has(name))
  if (known.get(definitions.name) !== checksumOf(definitions)) pending.push(definitions)
  const applied: string[] = []
  for (const migration of pending) {
    await apply(clickhouse, migration.statements)
    await clickhouse.command(record, { name: migration.name, checksum: checksumOf(migration) })
    applied.push(migration.name)
  }
  return { applied }
}

/** The codes for a table that another migrator alters (517) or replaces (57, 60, 218, 521) at this moment. */
const conflictCodes: ReadonlySet<number | undefined> = new Set([57, 60, 218, 517, 521])
const conflictPausesMs = [100, 200, 400, 800]
const roundsMax = 8

/**
 * Begins again when a conflict lasts: another migrator may have ended after it removed what an earlier
 * statement created. Every statement can be repeated.
 */
async function apply(clickhouse: ClickHouse, statements: readonly string[]): Promise<void> {
  for (let round = 1; ; round++) {
    try {
      for (const statement of statements) await applyOne(clickhouse, statement)
      return
    } catch (error) {
      if (round === roundsMax || !isConflict(error)) throw error
    }
  }
}

/** Repeats a statement that is in conflict: as a rule the other migrator has soon completed its own. */
async function applyOne(clickhouse: ClickHouse, statement: string): Promise<void> {
  for (const pauseMs of conflictPausesMs) {
    try {
      await clickhouse.command(statement)
      return
    } catch (error) {
      if (!isConflict(error)) throw error
      // Varied, so that two migrators do not collide again.
      await pause(pauseMs * (0.5 + Math.random()))
    }
  }
  await clickhouse.command(statement)
}

function isConflict(error: unknown): boolean {
  return error instanceof ClickHouseError && conflictCodes.has(error.code)
}

/** Defines views again that somebody has changed or dropped; resolves to their names. */
export async function repairViews(clickhouse: ClickHouse): Promise<string[]> {
  const differing = await findDifferingViews(clickhouse)
  for (const definition of differing) await apply(clickhouse, statementsOf(definition))
  return differing.map(({ name }) => name)
}
