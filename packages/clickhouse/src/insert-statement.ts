import { rawTables, type RawTable } from './tables.ts'

export interface DescribedColumn {
  name: string
  type: string
  default_type: string
  default_expression: string
}

/** Returns the statement that inserts lines of JSON into a table whose columns are not known. */
export function plainInsert(table: RawTable): string {
  const { name, columns } = rawTables[table]
  const list = columns && `(${columns.join(', ')})`
  return `INSERT INTO ${name} ${list ?? ''} FORMAT JSONEachRow`
}

/**
 * Returns a statement that stores the same rows, and fails with the same errors, as `INSERT INTO …
 * FORMAT JSONEachRow`, in two thirds of the CPU time: it reads LowCardinality columns as plain
 * values and converts each column as a whole (docs/decisions/0002-clickhouse-tables.md).
 *
 * @param described must be the columns of the table: a field of `device` that only the statement
 * had would be left out without an error
 */
export function insertStatement(table: RawTable, described: readonly DescribedColumn[]): string {
  const { name } = rawTables[table]
  const columns: readonly string[] = rawTables[table].columns ?? described.map((one) => one.name)
  const known = described.filter((column) => columns.includes(column.name))
  const structure = known.map(({ name: column, type, default_type: hasDefault }) => {
    const plain = type.replaceAll(lowCardinality, '$1').replace(/^JSON\b.*/, exactJson)
    return `${column} ${hasDefault === '' ? plain : `Nullable(${plain})`}`
  })
  // Defaults of the table do not apply to what a SELECT returns.
  const defaults = new Map(known.map((column) => [column.name, column.default_expression]))
  const values = columns.map((column) => {
    const expression = defaults.get(column) ?? ''
    return expression === '' ? column : `ifNull(${column}, ${expression})`
  })
  const quoted = structure.join(', ').replaceAll(/['\\]/g, String.raw`\$&`)
  return (
    `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values.join(', ')} ` +
    `FROM input('${quoted}') FORMAT JSONEachRow`
  )
}

/**
 * With dynamic paths, a value would change the type of the same path in other rows. The described
 * type may be that of before a migration.
 */
const exactJson = 'JSON(max_dynamic_paths=0)'
const lowCardinality = /LowCardinality\((\w+|Nullable\(\w+\))\)/g
