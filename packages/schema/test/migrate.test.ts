import t from 'tap'
import { deviceFields, type DeviceField } from '@intake/contract'
import { ownClickHouse } from '@intake/test-kit/own-services'
import { createDefinitions, definitions } from '../src/definitions/index.ts'
import { ClickHouseError } from '@intake/clickhouse'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { migrate, type Migration } from '../src/index.ts'
import { migrations as released } from '../src/migrations/index.ts'
import { failureOf, insertRows, logRow } from './fixture.ts'
import { views } from './views.ts'

const server = await ownClickHouse(t)
const clickhouse = openClickHouse(t, { url: server.url })

const names = async () => {
  const rows = await clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = 'intake' ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

t.test('every documented device field has a column, made by a migration', async (t) => {
  const statements = released.flatMap((migration) => migration.statements).join('\n')
  for (const { name } of deviceFields) {
    t.match(
      statements,
      new RegExp(`\\b${name}\\b`),
      `the column device lacks ${name}: add a migration (CONTRIBUTING.md, "A documented device field")`,
    )
  }
})

t.test('two concurrent migrations create the schema once', async (t) => {
  const both = await Promise.all([migrate({ clickhouse }), migrate({ clickhouse })])
  t.ok(both.some(({ applied }) => applied.includes('0001-logs-and-feedback')))
  t.ok(both.some(({ applied }) => applied.at(-1) === 'definitions'))
  const tables = [
    'alerts_raw',
    'analysts',
    'application_retention',
    'attachments_raw',
    'counted_raw',
    'days_raw',
    'dead_letters_raw',
    'erasures',
    'feedback_raw',
    'hours_raw',
    'installation',
    'journal',
    'logs_raw',
    'outcomes_raw',
    'pseudonym_key',
    'recounts_raw',
    'retention',
    'schema_migrations',
    'watermark_raw',
  ]
  t.same(await names(), [...tables, ...views].toSorted())
})

/** The type of a device field's column, by the kind of the field. */
const columnTypes: Record<DeviceField['kind'], string> = {
  text: 'LowCardinality(Nullable(String))',
  number: 'Nullable(Float64)',
  integer: 'Nullable(Int64)',
  boolean: 'Nullable(Bool)',
  time: "Nullable(DateTime64(3, 'UTC'))",
  date: 'Nullable(Date32)',
  texts: 'Array(LowCardinality(String))',
}
const tupleOf = (fields: readonly DeviceField[]) =>
  `Tuple(${fields.map(({ name, kind }) => `${name} ${columnTypes[kind]}`).join(', ')})`

const deviceColumns = async () => {
  const rows = await clickhouse.query<{ table: string; type: string }>(
    `SELECT table, type FROM system.columns
     WHERE database = 'intake' AND name = 'device' AND table != 'devices' ORDER BY table`,
  )
  return rows.map(({ table, type }) => [table, withoutSpace(type)])
}
const withoutSpace = (type: string) => type.replaceAll(/\s/g, '')
const ofDevice = (fields: readonly DeviceField[]) =>
  ['feedback', 'feedback_raw', 'logs', 'logs_raw'].map((table) => [
    table,
    withoutSpace(tupleOf(fields)),
  ])

t.test('the column of the device has exactly the documented fields', async (t) => {
  t.same(await deviceColumns(), ofDevice(deviceFields))
})

t.test('a second run applies nothing', async (t) => {
  t.same(await migrate({ clickhouse }), { applied: [] })
})

t.test('changed definitions are applied again, and so are former ones', async (t) => {
  const before = definitions
  const comment = `ALTER TABLE intake.logs MODIFY COMMENT 'Changed.'`
  const changed = { ...before, statements: [...before.statements, comment] }
  for (const current of [changed, before]) {
    t.same(await migrate({ clickhouse, definitions: current }), { applied: ['definitions'] })
    t.same(await migrate({ clickhouse, definitions: current }), { applied: [] })
  }
})

/** The errors that a statement can get while another migrator writes the file of the same table. */
const conflicts = [
  [107, 'Code: 107. DB::Exception: rename failed'],
  [62, 'Code: 62. DB::Exception: Empty query. (SYNTAX_ERROR)'],
  [
    62,
    'Code: 62. DB::Exception: Syntax error (in file store/360/v.sql): failed at position 8 (VIE)',
  ],
] as const
const syntaxError = [62, 'Code: 62. DB::Exception: Syntax error: failed at position 29'] as const

/** Returns a ClickHouse whose first `ALTER` statements fail, each with the next of these errors. */
function failing(errors: readonly (readonly [code: number, serverText: string])[]) {
  const left = [...errors]
  const command: typeof clickhouse.command = async (sql, ...rest) => {
    const [code, serverText] = (sql.startsWith('ALTER TABLE intake.') && left.shift()) || []
    if (code === undefined) return clickhouse.command(sql, ...rest)
    throw new ClickHouseError(`${code}`, { kind: 'split', code, serverText: serverText! })
  }
  return { left, clickhouse: { ...clickhouse, command } }
}

t.test('a table whose file another migrator is writing is altered later', async (t) => {
  const changed = { ...definitions, statements: definitions.statements.slice(0, 2) }
  const written = failing(conflicts)
  t.same(await migrate({ clickhouse: written.clickhouse, definitions: changed }), {
    applied: ['definitions'],
  })
  t.same(written.left, [])
  const wrong = failing([syntaxError, syntaxError])
  t.equal((await failureOf(migrate({ clickhouse: wrong.clickhouse }))).code, 62)
  t.same(wrong.left, [syntaxError], 'a wrong statement is not repeated')
  t.same(await migrate({ clickhouse }), { applied: ['definitions'] })
})

t.test('a sentence explains every table, and every column outside of raw tables', async (t) => {
  t.same(
    await clickhouse.query(
      `SELECT name FROM system.tables WHERE database = 'intake' AND NOT match(comment, '^\\\\S.*\\\\.$') UNION ALL
       SELECT table || '.' || name FROM system.columns
       WHERE database = 'intake' AND NOT match(comment, '^\\\\S.*\\\\.$') AND table NOT LIKE '%\\_raw'`,
    ),
    [],
  )
})

t.test('new migrations run in order, and again after a failure in the middle', async (t) => {
  const table = (name: string) =>
    `CREATE TABLE IF NOT EXISTS intake.${name} (a String DEFAULT ';') ENGINE = MergeTree ORDER BY ()`
  const first: Migration = { name: '9001-first', statements: [table('one')] }
  const broken: Migration = { name: '9002-second', statements: [table('two'), 'SELECT nothing'] }
  const error = await failureOf(migrate({ clickhouse, migrations: [first, broken] }))
  t.match(error, { code: 47, message: /47 \(UNKNOWN_IDENTIFIER\)$/ })
  t.ok((await names()).includes('one'))

  const view = 'CREATE VIEW intake.broken AS SELECT device.no_such_field FROM intake.logs_raw'
  const failed = await failureOf(
    migrate({ clickhouse, migrations: [{ name: '9002-second', statements: [view] }] }),
  )
  t.match(failed.message, /\d+ \([A-Z_]+\): .*no_such_field/, "with ClickHouse's sentence")
  t.ok(failed.message.length < 500)

  const repaired: Migration = { name: '9002-second', statements: [table('two')] }
  t.same(await migrate({ clickhouse, migrations: [first, repaired] }), { applied: ['9002-second'] })
})

t.test('a changed migration that was already applied stops the run before it starts', async (t) => {
  const changed: Migration = { name: '9001-first', statements: ['SELECT 1'] }
  const later: Migration = { name: '9003-third', statements: ['CREATE TABLE intake.three'] }
  const commands: string[] = []
  const command = async (sql: string) => void commands.push(sql)
  await t.rejects(
    migrate({ clickhouse: { ...clickhouse, command }, migrations: [changed, later] }),
    { name: 'MigrationError', message: /another version of Intake \(9001-first\)/ },
  )
  t.same(commands, [])
})

t.test('the views have the rights of their definer; analysts need none on tables', async (t) => {
  const definers = await clickhouse.query(
    `SELECT name FROM system.tables WHERE database = 'intake' AND engine = 'View'
     AND create_table_query LIKE '%DEFINER = intake SQL SECURITY DEFINER%' ORDER BY name`,
  )
  t.same(
    definers,
    views.map((name) => ({ name })),
  )
  const analyst = openClickHouse(t, { url: server.analystUrl })
  t.same(await analyst.query('SELECT count() AS n FROM intake.logs'), [{ n: 0 }])
})

// CONTRIBUTING.md lists what a new device field needs. With `alter_sync = 0` the migration does not
// wait until stored rows are converted (docs/decisions/0020-exact-arrays.md).
t.test('a migration adds a new device field, and keeps the rows', async (t) => {
  const example: DeviceField = { name: 'example_field', kind: 'text', description: 'An example.' }
  const fields = [...deviceFields, example]
  const widen = (table: string) =>
    `ALTER TABLE intake.${table} MODIFY COLUMN device ${tupleOf(fields)} SETTINGS alter_sync = 0`
  const migration: Migration = {
    name: '9000-example-field',
    statements: ['logs_raw', 'feedback_raw'].map(widen),
  }
  const insert = (device: object) => insertRows(clickhouse, 'logs', [logRow({ device })])

  await insert({ os: 'iOS' })
  const early = await failureOf(insert({ os: 'iOS', example_field: 'x' }))
  t.equal(early.kind, 'operator', 'a gateway that is newer than the tables: the frame is kept')

  const options = { clickhouse, migrations: [migration], definitions: createDefinitions(fields) }
  t.same(await migrate(options), { applied: [migration.name, 'definitions'] })
  t.same(await migrate(options), { applied: [] })
  await insert({ os: 'iOS', example_field: 'x' })
  t.same(await deviceColumns(), ofDevice(fields))
  const expected = [
    { os: 'iOS', example: 'x' },
    { os: 'iOS', example: null },
  ]
  t.same(
    await clickhouse.query(
      'SELECT device.os AS os, device.example_field AS example FROM intake.logs ORDER BY example',
    ),
    expected,
  )
  t.same(
    await clickhouse.query(
      'SELECT device_os AS os, device_example_field AS example FROM intake.logs_flat ORDER BY example',
    ),
    expected,
  )
  t.same(
    await clickhouse.query(
      `SELECT comment FROM system.columns WHERE table = 'logs_flat' AND name = 'device_example_field'`,
    ),
    [{ comment: example.description }],
  )
})
