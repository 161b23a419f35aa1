import type { ClickHouse } from '@intake/clickhouse'
import { countUnusedShards, findIncompleteServers } from '../cluster/layout.ts'
import { isRowView, localName, toLocal } from '../cluster/statements.ts'
import { functionStatements } from '../definitions/functions.ts'
import type { Definition } from '../definitions/definition.ts'
import { allDefinitions, definitions } from '../definitions/index.ts'
import { checksumOf, readApplied, migrations } from '../migrations/index.ts'
import {
  describeQuery,
  findOutdatedColumns,
  formatQuery,
  isStored,
  readColumns,
} from './columns.ts'

interface Table {
  name: string
  columns: string[]
  /** The query of a view, as ClickHouse prints it; empty for a table. */
  select: string
  engine: string
}

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

/**
 * Returns the differences from the tables, views and functions of this release, in words for an
 * operator; empty if there are none. If migrations are missing or are those of another version,
 * returns only these, because they may cause all other differences.
 */
export async function findSchemaDifferences(clickhouse: Reader): Promise<string[]> {
  const history = await findMissingMigrations(clickhouse)
  if (history.length > 0) return history
  const tables = await readTables(clickhouse)
  const missing = findMissing(tables)
  return [
    ...missing,
    ...(missing.length > 0 ? [] : findOutdatedColumns(await readColumns(clickhouse), migrations)),
    ...findTtls(tables),
    ...(await findChangedViews(clickhouse, tables)).map(
      ({ definition, difference }) => `the view intake.${definition.name} has ${difference}`,
    ),
    ...(await findMissingFunctions(clickhouse)),
    ...(await findClusterDifferences(clickhouse)),
  ]
}

async function findClusterDifferences(clickhouse: Reader): Promise<string[]> {
  const servers = await findIncompleteServers(clickhouse)
  const shards = await countUnusedShards(clickhouse)
  return [
    ...servers.map((server) => `the server ${server} of the cluster lacks tables`),
    ...(shards === 0 ? [] : [`shards of the cluster that get no records: ${shards}; ${useShards}`]),
  ]
}

const useShards = 'set their beginning with intake setup --new-shards-from'

async function findMissingMigrations(clickhouse: Reader): Promise<string[]> {
  const applied = await readApplied(clickhouse)
  if (applied === undefined) return ['the database intake has no tables']
  return [...migrations, definitions].flatMap((migration) => {
    const { name } = migration
    const checksum = applied.get(name)
    if (checksum === undefined) return [`the migration ${name} is missing`]
    return checksum === checksumOf(migration)
      ? []
      : [`the migration ${name} is that of another version`]
  })
}

async function readTables(clickhouse: Reader): Promise<Map<string, Table>> {
  const rows = await clickhouse.query<Table>(
    `SELECT name, ifNull(formatQueryOrNull(as_select), '') AS select, engine_full AS engine, groupArray(columns.name) AS columns
     FROM system.tables AS tables
     LEFT JOIN (SELECT table, name FROM system.columns WHERE database = 'intake') AS columns
       ON columns.table = tables.name
     WHERE database = 'intake' GROUP BY name, select, engine`,
  )
  return new Map(rows.map((row) => [row.name, row]))
}

/** The tables, views and columns of this release that are missing, in words for an operator. */
export async function findMissingTables(clickhouse: Reader): Promise<string[]> {
  return findMissing(await readTables(clickhouse))
}

function findMissing(tables: Map<string, Table>, wanted = allDefinitions): string[] {
  return wanted.flatMap(({ name, columns, select }) => {
    const kind = select === undefined ? 'table' : 'view'
    const table = tables.get(name)
    if (table === undefined) return [`the ${kind} intake.${name} is missing`]
    const missing = Object.keys(columns).filter((column) => !table.columns.includes(column))
    return missing.map((column) => `the ${kind} intake.${name} has no column ${column}`)
  })
}

/** If a TTL deleted the visible row of an identity first, a hidden one would reappear. */
function findTtls(tables: Map<string, Table>): string[] {
  return allDefinitions.flatMap(({ name }) =>
    / TTL /.test(tables.get(name)?.engine ?? '') ? [`the table intake.${name} has a TTL`] : [],
  )
}

export async function findDifferingViews(clickhouse: Reader): Promise<Definition[]> {
  const tables = await readTables(clickhouse)
  const missing = allDefinitions.filter(
    ({ name, select }) => select !== undefined && !tables.has(name),
  )
  const changed = await findChangedViews(clickhouse, tables)
  return [...missing, ...changed.map(({ definition }) => definition)]
}

/**
 * The differences are in words for an operator. A view keeps the column types from when it was
 * defined, and converts values to them. So the types of its columns are also compared with those
 * that its query has now, on every server.
 */
async function findChangedViews(clickhouse: Reader, tables: Map<string, Table>) {
  const rawTables = allDefinitions.filter(({ select }) => select === undefined)
  // If a table lacks a column, the types of a view's query cannot be read. The missing column is
  // reported elsewhere.
  const hasTypes = findMissing(tables, rawTables).length === 0
  const columns = await readColumns(clickhouse)
  const compared = allDefinitions.map(async (definition) => {
    if (definition.select === undefined) return []
    const isLocal = clickhouse.cluster !== undefined && isRowView(definition.select)
    const view = tables.get(isLocal ? localName(definition.name) : definition.name)
    if (view === undefined) return []
    const wanted = isLocal ? toLocal(definition.select) : definition.select
    if (view.select !== (await formatQuery(clickhouse, wanted)))
      return [{ definition, difference: 'another query' }]
    if (!hasTypes) return []
    const types = Object.entries(await describeQuery(clickhouse, wanted))
    const isOutdated = columns.some(
      ({ table, types: stored }) =>
        isStored(table, definition.name) && types.some(([name, type]) => stored[name] !== type),
    )
    return isOutdated ? [{ definition, difference: 'columns of other types than its query' }] : []
  })
  return (await Promise.all(compared)).flat()
}

async function findMissingFunctions(clickhouse: Reader): Promise<string[]> {
  const rows = await clickhouse.query<{ name: string }>(
    "SELECT name FROM system.functions WHERE origin = 'SQLUserDefined'",
  )
  const known = new Set(rows.map(({ name }) => name))
  return functionStatements
    .map((statement) => /FUNCTION (\w+)/.exec(statement)?.[1] ?? '')
    .filter((name) => !known.has(name))
    .map((name) => `the function ${name} is missing`)
}
