import t from 'tap'
import { documentedDeviceFields } from '@intake/contract'
import { startClickHouse } from '@intake/engines'
import { createClickHouse, migrate, type Migration } from '../src/index.ts'
import { createDataDir } from '@intake/test-kit/data-dir'
import { failureOf } from './fixture.ts'

const server = await startClickHouse({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const clickhouse = createClickHouse({ url: server.url })
t.teardown(() => clickhouse.close())

const names = async () => {
  const rows = await clickhouse.query<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = 'intake' ORDER BY name`,
  )
  return rows.map(({ name }) => name)
}

t.test('two concurrent migrations create the schema once', async (t) => {
  const both = await Promise.all([migrate({ clickhouse }), migrate({ clickhouse })])
  t.ok(both.some(({ applied }) => applied.includes('0001-logs-and-feedback')))
  t.same(await names(), [
    'dead_letters',
    'dead_letters_raw',
    'erasures',
    'feedback',
    'feedback_raw',
    'installation',
    'logs',
    'logs_raw',
    'retention',
    'schema_migrations',
  ])
})

t.test('the column of the device has exactly the documented fields', async (t) => {
  const rows = await clickhouse.query<{ table: string; type: string }>(
    `SELECT table, type FROM system.columns
     WHERE database = 'intake' AND name = 'device' ORDER BY table`,
  )
  t.same(
    rows.map(({ table }) => table),
    ['feedback', 'feedback_raw', 'logs', 'logs_raw'],
  )
  for (const { table, type } of rows) {
    const fields = [...type.matchAll(/(?:^Tuple\(|, )(\w+) [A-Z]/g)].map(([, name = '']) => name)
    t.same(new Set(fields), documentedDeviceFields, table)
  }
})

t.test('a second run applies nothing', async (t) => {
  t.same(await migrate({ clickhouse }), { applied: [] })
})

t.test('new migrations run in order, and again after a failure in the middle', async (t) => {
  const table = (name: string) =>
    `CREATE TABLE IF NOT EXISTS intake.${name} (a String DEFAULT ';') ENGINE = MergeTree ORDER BY ()`
  const first: Migration = { name: '9001-first', statements: [table('one')] }
  const broken: Migration = { name: '9002-second', statements: [table('two'), 'SELECT nothing'] }
  const error = await failureOf(migrate({ clickhouse, migrations: [first, broken] }))
  t.equal(error.code, 47)
  t.ok((await names()).includes('one'))

  const repaired: Migration = { name: '9002-second', statements: [table('two')] }
  t.same(await migrate({ clickhouse, migrations: [first, repaired] }), { applied: ['9002-second'] })
})

t.test('a changed migration that was already applied stops the run before it starts', async (t) => {
  const changed: Migration = { name: '9001-first', statements: ['SELECT 1'] }
  const later: Migration = { name: '9003-third', statements: ['CREATE TABLE intake.three'] }
  await t.rejects(migrate({ clickhouse, migrations: [changed, later] }), {
    name: 'MigrationError',
    message: /another version of Intake \(9001-first\)/,
  })
})

t.test(
  'the views read with the rights of their definer, so analysts need none on the tables',
  async (t) => {
    const definers = await clickhouse.query(
      `SELECT name FROM system.tables WHERE database = 'intake' AND engine = 'View'
     AND create_table_query LIKE '%DEFINER = intake SQL SECURITY DEFINER%' ORDER BY name`,
    )
    t.same(definers, [{ name: 'dead_letters' }, { name: 'feedback' }, { name: 'logs' }])
    const analyst = createClickHouse({ url: server.analystUrl })
    t.teardown(() => analyst.close())
    t.same(await analyst.query('SELECT count() AS n FROM intake.logs'), [{ n: 0 }])
  },
)
