import type { ClickHouse } from '@intake/clickhouse'
import { serverOf, systemTable } from '../cluster/names.ts'
import { localName } from '../cluster/statements.ts'
import type { Migration } from '../migrations/index.ts'

type Reader = Pick<ClickHouse, 'query' | 'cluster'>

export interface Columns {
  /** Empty without a cluster. */
  server: string
  table: string
  /** Column types by name, without white space. */
  types: Readonly<Record<string, string>>
}

/** Removes white space, because ClickHouse prints a type on one line or on several. */
const compact = (type: string) => type.replaceAll(/\s/g, '')

export async function readColumns(clickhouse: Reader): Promise<Columns[]> {
  const rows = await clickhouse.query<Columns>(
    `SELECT ${serverOf(clickhouse)} AS server, table, mapFromArrays(groupArray(name), groupArray(type)) AS types
     FROM ${systemTable(clickhouse, 'columns')}
     WHERE database = 'intake' GROUP BY server, table ORDER BY server, table`,
  )
  return rows.map((row) => ({ ...row, types: compactAll(Object.entries(row.types)) }))
}

/** Returns the types of a query's columns, by name, as they follow from the tables at present. */
export async function describeQuery(
  clickhouse: Reader,
  select: string,
): Promise<Record<string, string>> {
  const rows = await clickhouse.query<{ name: string; type: string }>(`DESCRIBE TABLE (${select})`)
  return compactAll(rows.map(({ name, type }) => [name, type]))
}

/** Returns a query in the form in which ClickHouse prints it, so white space is no difference. */
export async function formatQuery(
  clickhouse: Pick<ClickHouse, 'query'>,
  select: string,
): Promise<string | undefined> {
  const [row] = await clickhouse.query<{ formatted: string }>(
    'SELECT formatQuery({select:String}) AS formatted',
    { select },
  )
  return row?.formatted
}

const compactAll = (types: [string, string][]) =>
  Object.fromEntries(types.map(([name, type]) => [name, compact(type)]))

/** A statement may add or change only one column. */
const change =
  /^ALTER TABLE intake\.(\w+)\s+(?:ADD COLUMN IF NOT EXISTS|MODIFY COLUMN) (\w+) ([^]+?)(?: DEFAULT \w+)?(?: AFTER \w+)?(?:, MODIFY ORDER BY [^]+)?(?: SETTINGS [^]+)?$/

interface Column {
  table: string
  column: string
  type: string
}

/** The type that each column has after all migrations, for the columns that they add or change. */
function changedColumns(migrations: readonly Migration[]): Map<string, Column> {
  const last = new Map<string, Column>()
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const [, table, column, type] = change.exec(statement) ?? []
    if (table === undefined || column === undefined || type === undefined) continue
    last.set(`${table}.${column}`, { table, column, type: compact(type) })
  }
  return last
}

/**
 * Differences can be temporary: a replica changes a type some time after the statement. Columns of
 * `unfinished` migrations are left out.
 */
export function findOutdatedColumns(
  all: readonly Columns[],
  migrations: readonly Migration[],
  unfinished: readonly Migration[] = [],
): string[] {
  const unsettled = changedColumns(unfinished)
  const settled = [...changedColumns(migrations)].filter(([name]) => !unsettled.has(name))
  return settled.flatMap(([, { table: name, column, type }]) =>
    all
      .filter(({ table, types }) => isStored(table, name) && types[column] !== type)
      .map(({ server, table, types }) => {
        const place = server === '' ? '' : ` on ${server}`
        const actual = types[column] ?? 'missing'
        return `the column ${column} of intake.${table}${place} is ${actual} instead of ${type}`
      }),
  )
}

export const isStored = (table: string, name: string): boolean =>
  table === name || table === localName(name)
