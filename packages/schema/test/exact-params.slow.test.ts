import { gzipSync } from 'node:zlib'
import { startClickHouse } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import t from 'tap'
import { migrations } from '../src/migrations/index.ts'
import { type ClickHouse } from '@intake/clickhouse'
import { inspectClickHouse, migrate, repairViews } from '../src/index.ts'
import { logRow } from './fixture.ts'

const server = await startClickHouse({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const clickhouse = openClickHouse(t, { url: server.url })

/**
 * Pairs of values that are inserted together. Without the migration 0008-exact-params, the second
 * value of a pair changes how the first is stored.
 */
const neighbours = [
  ['{"values":[21.5]}', '{"values":[7301444403921084417]}'],
  ['{"answers":[[1,2]]}', '{"answers":[null]}'],
  ['{"items":[{"sku":"a"}]}', '{"items":[null]}'],
  ['{"deep":{"list":[{"a":[1.5]}]}}', '{"deep":{"list":[{"a":[9007199254740993]}]}}'],
  ['{"z":1}', '{"list":[{"a":[1.5]},{"a":[9007199254740993]}]}'],
] as const

const columns = ['params', 'device_extra', 'extra'] as const

/**
 * Inserts all texts with one insert. Each text is the value of all JSON columns of one row.
 * Resolves to the ids of the rows.
 */
async function insert(texts: readonly string[]): Promise<string[]> {
  const rows = texts.map((text) => {
    const row = logRow()
    const json = columns.map((name) => `"${name}":${text}`).join(',')
    const { params: _, device_extra: __, ...others } = row
    return { id: row.id, line: `${JSON.stringify(others).slice(0, -1)},${json}}\n` }
  })
  const members = [gzipSync(rows.map(({ line }) => line).join(''))]
  await clickhouse.insertRows({ table: 'logs', members, rows: rows.length })
  return rows.map(({ id }) => id)
}

async function read(ids: readonly string[]): Promise<string[][]> {
  const rows = await clickhouse.query<Record<(typeof columns)[number], string>>(
    `SELECT ${columns.map((name) => `toJSONString(${name}) AS ${name}`).join(', ')}
     FROM intake.logs WHERE id IN ({ids:Array(UUID)}) ORDER BY indexOf({ids:Array(UUID)}, id)`,
    { ids },
  )
  return rows.map((row) => columns.map((name) => row[name]))
}

const exactParams = migrations.find(({ name }) => name === '0008-exact-params')!
const former = migrations.filter((migration) => migration !== exactParams)
const early = '{"list":[{"a":[1.5]}],"n":9007199254740993,"s":["a",null,[1]]}'

t.test('rows of the former column stay readable while it is changed, and after', async (t) => {
  const formerDefinitions = { name: 'definitions', statements: [] }
  await migrate({ clickhouse, migrations: former, definitions: formerDefinitions })
  const ids = await insert(Array.from({ length: 100 }, () => early))
  const expected = ids.map(() => columns.map(() => early))
  t.same(await read(ids), expected)

  await clickhouse.command('SYSTEM STOP MERGES intake.logs_raw')
  const during: string[] = []
  const inserting = async () => {
    for (let n = 0; n < 20; n++) during.push(...(await insert([early, neighbours[0][1]])))
  }
  const [{ applied }] = await Promise.all([migrate({ clickhouse }), inserting()])
  t.same(applied, [exactParams.name, 'definitions'])
  t.same(await migrate({ clickhouse }), { applied: [] })
  for (const statement of exactParams.statements) await clickhouse.command(statement)
  t.same(await read(ids), expected, 'before ClickHouse has rewritten them')
  t.equal((await read(during)).length, during.length)

  await clickhouse.command('SYSTEM START MERGES intake.logs_raw')
  await clickhouse.command('OPTIMIZE TABLE intake.logs_raw FINAL')
  t.same(await read(ids), expected, 'after')
})

t.test('a record is not changed by another one of the same insert, or by merges', async (t) => {
  const ids: string[] = []
  const expected: string[][] = []
  for (const pair of neighbours) {
    for (const texts of [pair, pair.toReversed(), [...pair, ...pair], [pair[1]]]) {
      ids.push(...(await insert(texts)))
      expected.push(...texts.map((text) => columns.map(() => text)))
    }
  }
  t.same(await read(ids), expected)
  await clickhouse.command('OPTIMIZE TABLE intake.logs_raw FINAL')
  t.same(await read(ids), expected, 'after merges')
})

t.test('new and rewritten parts have four buckets', async (t) => {
  const [table] = await clickhouse.query<{ engine: string }>(
    `SELECT engine_full AS engine FROM system.tables WHERE database = 'intake' AND name = 'logs_raw'`,
  )
  t.match(table?.engine, /object_shared_data_buckets_for_wide_part = 4\b/)
  t.match(table?.engine, "object_shared_data_serialization_version = 'map_with_buckets'")
})

t.test('no JSON column of a table or view has dynamic paths', async (t) => {
  const types = await clickhouse.query(
    `SELECT DISTINCT type FROM system.columns WHERE database = 'intake' AND type LIKE '%JSON%'`,
  )
  t.same(types, [{ type: 'JSON(max_dynamic_paths=0)' }])
})

const viewTypes = () =>
  clickhouse.query(
    `SELECT type FROM system.columns WHERE database = 'intake' AND table = 'logs' AND name = 'params'`,
  )
const changeParams = exactParams.statements.find((sql) => sql.includes('MODIFY COLUMN params'))!

/** Undoes the migration: gives `params` its former type and marks the migration as not applied. */
async function undo(): Promise<void> {
  await clickhouse.command(
    'ALTER TABLE intake.logs_raw MODIFY COLUMN params JSON(max_dynamic_paths = 16)',
  )
  await clickhouse.command(
    `DELETE FROM intake.schema_migrations WHERE name IN ('${exactParams.name}', 'definitions')`,
  )
}

/**
 * Wraps the connection so that it behaves like a replica that applies the migration late. The
 * replica has the new columns only after the columns have been read `reads` times.
 */
function behind(reads: number): ClickHouse {
  let left = reads
  return {
    ...clickhouse,
    command: async (sql, params) => {
      if (sql !== changeParams) await clickhouse.command(sql, params)
    },
    query: async <Row>(sql: string, params?: Record<string, unknown>) => {
      const rows = await clickhouse.query<Row>(sql, params)
      if (sql.includes('FROM system.columns') && --left === 0) {
        await clickhouse.command(changeParams)
      }
      return rows
    },
  }
}

t.test('the views are defined only when the replica has the new type', async (t) => {
  await undo()
  t.match(await migrate({ clickhouse: behind(2) }), { applied: [exactParams.name, 'definitions'] })
  t.same(await viewTypes(), [{ type: 'JSON(max_dynamic_paths=0)' }])
})

t.test('setup fails if a replica does not apply the migration, and defines no view', async (t) => {
  await undo()
  await t.rejects(migrate({ clickhouse: behind(Infinity), columnsTimeoutMs: 0 }), {
    name: 'MigrationError',
    message:
      /the column params of intake\.logs_raw is JSON\(max_dynamic_paths=16\) instead of JSON\(max_dynamic_paths=0\)\. Run intake setup again/,
  })
  t.match(await inspectClickHouse(clickhouse), {
    schemaDifferences: ['the migration definitions is missing'],
  })
  await clickhouse.command(changeParams)
  t.same(await migrate({ clickhouse }), { applied: ['definitions'] })
})

t.test('views that have the former type are reported, and repaired', async (t) => {
  await undo()
  await migrate({ clickhouse, migrations: former })
  t.same(await viewTypes(), [{ type: 'JSON(max_dynamic_paths=16)' }])
  t.same(await migrate({ clickhouse }), { applied: [exactParams.name] })
  t.same(await viewTypes(), [{ type: 'JSON(max_dynamic_paths=16)' }])

  t.same((await inspectClickHouse(clickhouse)).schemaDifferences, [
    'the view intake.logs has columns of other types than its query',
  ])
  t.same(await repairViews(clickhouse), ['logs'])
  t.same(await viewTypes(), [{ type: 'JSON(max_dynamic_paths=0)' }])
  t.same((await inspectClickHouse(clickhouse)).schemaDifferences, [])
  t.same(await repairViews(clickhouse), [])
})

t.test('a column that was changed by hand is named', async (t) => {
  await clickhouse.command(
    'ALTER TABLE intake.logs_raw MODIFY COLUMN params JSON(max_dynamic_paths = 16)',
  )
  t.match((await inspectClickHouse(clickhouse)).schemaDifferences, [
    /^the column params of intake\.logs_raw is JSON\(max_dynamic_paths=16\) instead of /,
  ])
})
