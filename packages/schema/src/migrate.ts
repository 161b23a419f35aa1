import { setTimeout as pause } from 'node:timers/promises'
import {
  ClickHouseError,
  explainDefinition,
  MigrationError,
  type ClickHouse,
} from '@intake/clickhouse'
import { copyTables, findIncompleteServers, planLayout } from './cluster/layout.ts'
import { clusterStatements, reshardStatements, type ClusterLayout } from './cluster/statements.ts'
import { statementsOf } from './definitions/definition.ts'
import { functionStatements } from './definitions/functions.ts'
import { definitions as current } from './definitions/index.ts'
import { findOutdatedColumns, readColumns } from './inspect/columns.ts'
import { findDifferingViews } from './inspect/schema.ts'
import {
  checksumOf,
  readApplied,
  migrations as released,
  type Migration,
} from './migrations/index.ts'

export interface MigrateOptions {
  clickhouse: ClickHouse
  migrations?: readonly Migration[]
  /** Default: the views and comments of this release. */
  definitions?: Migration
  /** From when on records are on all shards. Without it, added shards get no records. */
  newShardsFrom?: Date | undefined
  /** How long to wait until all replicas have the columns of the migrations; default 30,000. */
  columnsTimeoutMs?: number
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
 * Updates the schema to this release. Returns what it has applied, in order: the names of
 * migrations, a note about added shards, and `definitions` if the views and comments were applied.
 * It can be called repeatedly, by several processes at once, and after a crash in the middle. If a
 * migration differs from the form in which it was applied, rejects with a `MigrationError` and
 * changes nothing. On a cluster every server gets the same tables, even one that was added since
 * the last call.
 */
export const migrate = async (options: MigrateOptions): Promise<{ applied: string[] }> => {
  const { clickhouse, migrations = released, definitions = current, newShardsFrom } = options
  const { columnsTimeoutMs = 30_000 } = options
  const { layout, isResharded } = await planLayout(clickhouse, newShardsFrom)
  const translate = translator(layout)
  await readKnown(clickhouse, migrations)
  for (const statement of translate(prepare)) await clickhouse.command(statement)
  // A server that was added to the cluster has the list only after these statements.
  const known = await readKnown(clickhouse, migrations)

  // Functions belong to the server, so a restored database lacks them.
  await apply(clickhouse, translate(functionStatements))
  const isComplete = (await findIncompleteServers(clickhouse)).length === 0
  const unfinished = migrations.filter(({ name }) => !known.has(name))
  const pending = migrations.filter(({ name }) => !isComplete || !known.has(name))
  const hasDefinitions = known.get(definitions.name) === checksumOf(definitions)
  const applied: string[] = []
  const applyMigration = async ({ name, statements }: Migration, checksum: string) => {
    await apply(clickhouse, translate(statements))
    await clickhouse.command(record, { name, checksum })
    applied.push(name)
  }

  if (layout && (!isComplete || isResharded)) {
    // When a Distributed table is created, it copies the columns of the stored table on its server.
    // So the columns of the stored table must be up to date by then.
    await untilColumnsChanged({ clickhouse, migrations, unfinished, columnsTimeoutMs })
  }
  if (layout && !isComplete) await apply(clickhouse, await copyTables(clickhouse, layout.cluster))
  if (layout && isResharded) {
    await apply(clickhouse, reshardStatements(layout))
    applied.push(`${layout.shards.counts.at(-1)} shards from ${layout.shards.changes.at(-1)} on`)
  }
  for (const migration of pending) await applyMigration(migration, checksumOf(migration))
  // A view takes the types of the columns when it is defined. If it were defined before the columns
  // have their new types, it would convert values to the former types.
  await untilColumnsChanged({ clickhouse, migrations, columnsTimeoutMs })
  if (!hasDefinitions || !isComplete || isResharded) {
    await applyMigration(definitions, checksumOf(definitions))
  }
  return { applied }
}

/** @throws {MigrationError} when a migration differs from the form in which it was applied */
async function readKnown(
  clickhouse: ClickHouse,
  migrations: readonly Migration[],
): Promise<Map<string, string>> {
  const known = (await readApplied(clickhouse)) ?? new Map<string, string>()
  const changed = migrations.filter(
    (migration) => known.has(migration.name) && known.get(migration.name) !== checksumOf(migration),
  )
  if (changed.length === 0) return known
  const names = changed.map(({ name }) => name).join(', ')
  throw new MigrationError(
    `The tables in ClickHouse were created by another version of Intake (${names}) and cannot be used by ` +
      'this one: drop the database intake with all its data (with Docker Compose: docker compose ' +
      'down --volumes, which deletes all data), or set CLICKHOUSE_URL to another server.',
  )
}

const columnsPauseMs = 500

async function untilColumnsChanged(options: {
  clickhouse: ClickHouse
  migrations: readonly Migration[]
  unfinished?: readonly Migration[]
  columnsTimeoutMs: number
}): Promise<void> {
  const { clickhouse, migrations, unfinished, columnsTimeoutMs } = options
  const deadline = performance.now() + columnsTimeoutMs
  for (;;) {
    const outdated = findOutdatedColumns(await readColumns(clickhouse), migrations, unfinished)
    if (outdated.length === 0) return
    if (performance.now() > deadline) {
      throw new MigrationError(
        `ClickHouse does not have the columns of the migrations yet: ${outdated.join('; ')}. ` +
          'Run intake setup again when its replicas have caught up (docs/operations/clickhouse-schema.md).',
      )
    }
    await pause(columnsPauseMs)
  }
}

/** Another migrator alters (517) or replaces the table, or has renamed a file (107). */
const conflictCodes: ReadonlySet<number | undefined> = new Set([57, 60, 107, 218, 517, 521])
/** Matches the syntax error (62) for a table's file that is empty or that is being written. */
const halfWritten = /Syntax error \(in file |: Empty query\./
const conflictsMax = 4
const roundsMax = 8

/**
 * Applies statements in order. Every statement can be repeated. If a conflict with another migrator
 * persists, starts again from the first statement: the other migrator may have removed what an
 * earlier statement created, and then exited.
 */
async function apply(clickhouse: ClickHouse, statements: readonly string[]): Promise<void> {
  let round = 1
  let conflicts = 0
  for (let next = 0; next < statements.length;) {
    const statement = statements[next]!
    try {
      await clickhouse.command(statement)
      next++
      conflicts = 0
    } catch (error) {
      if (!isConflict(error)) throw explainDefinition(error, statement)
      // The pause is random, so that two migrators do not collide again.
      if (conflicts < conflictsMax) await pause(100 * 2 ** conflicts++ * (0.5 + Math.random()))
      else if (round++ < roundsMax) [next, conflicts] = [0, 0]
      else throw error
    }
  }
}

function isConflict(error: unknown): boolean {
  if (!(error instanceof ClickHouseError)) return false
  return (
    conflictCodes.has(error.code) || (error.code === 62 && halfWritten.test(error.serverText ?? ''))
  )
}

/** Redefines the views that were changed or dropped by hand. Resolves to their names. */
export async function repairViews(clickhouse: ClickHouse): Promise<string[]> {
  const differing = await findDifferingViews(clickhouse)
  if (differing.length === 0) return []
  const translate = translator((await planLayout(clickhouse)).layout)
  for (const definition of differing) await apply(clickhouse, translate(statementsOf(definition)))
  return differing.map(({ name }) => name)
}

const translator =
  (layout: ClusterLayout | undefined) =>
  (statements: readonly string[]): readonly string[] =>
    layout === undefined
      ? statements
      : statements.flatMap((statement) => clusterStatements(statement, layout))
