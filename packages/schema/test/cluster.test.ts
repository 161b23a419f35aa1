import t from 'tap'
import { dropAnalyst } from '../src/index.ts'
import { functionStatements } from '../src/definitions/functions.ts'
import { definitions } from '../src/definitions/index.ts'
import { migrations } from '../src/migrations/index.ts'
import { alterStored, storedTable, syncReplicas, systemTable } from '../src/cluster/names.ts'
import { addShards, parseShards, shardingKey } from '../src/cluster/shards.ts'
import { clusterStatements, toLocal } from '../src/cluster/statements.ts'
import { startServer } from './fixture.ts'
import { limited } from './limited-analyst.ts'

const layout = { cluster: 'fleet', definer: 'owner', shards: { counts: [2], changes: [] } }
const all = [...migrations, definitions].flatMap(({ statements }) => [...statements])
const translated = [...functionStatements, ...all].flatMap((sql) => clusterStatements(sql, layout))
const minutes = (n: number) => new Date(Date.now() + n * 60_000)

t.test('every statement for a cluster is accepted by the parser of the engine', async (t) => {
  const { connect } = await startServer(t)
  const clickhouse = connect(t)
  for (const sql of translated) {
    t.match(sql, / ON CLUSTER 'fleet'/)
    const [row] = await clickhouse.query<{ ok: 0 | 1 }>(
      'SELECT formatQueryOrNull({sql:String}) IS NOT NULL AS ok',
      { sql },
    )
    t.equal(row?.ok, 1, sql.slice(0, 60))
  }
})

t.test('rows are in replicated tables, inserted through Distributed ones', (t) => {
  const [stored, distributed] = clusterStatements(migrations[0]!.statements[0]!, layout)
  t.match(stored, 'CREATE TABLE IF NOT EXISTS intake.logs_raw_local ON CLUSTER')
  t.match(
    stored,
    "ReplicatedReplacingMergeTree('/clickhouse/tables/{shard}/intake/logs_raw', '{replica}', ver, is_deleted)",
  )
  t.match(distributed, 'CREATE TABLE IF NOT EXISTS intake.logs_raw ON CLUSTER')
  t.match(
    distributed,
    "Distributed('fleet', 'intake', 'logs_raw_local', sipHash64(bundle_identifier, time, id, device_uuid) % 2)",
  )
  t.notOk(
    translated.some((sql) => /ENGINE = (Replacing)?MergeTree/.test(sql)),
    'no table is without replicas',
  )
  t.notOk(
    translated.some((sql) => sql.includes('CURRENT_USER')),
    'views name their user',
  )
  t.end()
})

t.test('a view of rows is computed on its shard, others over all shards', (t) => {
  t.ok(
    translated.some((sql) =>
      /VIEW intake\.logs_local [^]*FROM intake\.logs_raw_local FINAL/.test(sql),
    ),
  )
  t.ok(translated.some((sql) => /VIEW intake\.devices [^]*FROM intake\.logs_raw FINAL/.test(sql)))
  t.equal(toLocal('intake.logs_raw, intake.retention'), 'intake.logs_raw_local, intake.retention')
  t.end()
})

t.test('a view that needs the rows of all shards must have GROUP BY', (t) => {
  const view = (select: string) =>
    clusterStatements(`CREATE VIEW intake.v DEFINER = CURRENT_USER AS ${select}`, layout)
  t.throws(
    () => view('SELECT 1 FROM intake.logs_raw, intake.hours_raw FINAL'),
    /intake\.hours_raw once per shard/,
  )
  t.equal(view('SELECT 1 FROM intake.hours_raw FINAL').length, 1, 'each server has all counts')
  for (const select of [
    'SELECT id FROM intake.logs_raw LIMIT 1 BY id',
    'SELECT DISTINCT id FROM intake.logs_raw',
    'SELECT rank() over () FROM intake.logs_raw',
    'SELECT count() AS n FROM intake.logs_raw FINAL',
    'SELECT countIf(is_deleted) AS n FROM intake.logs_raw FINAL',
    'SELECT uniqExact(id) AS n FROM intake.logs_raw',
    'SELECT quantile(0.9)(time) AS n FROM intake.logs_raw',
    'SELECT id FROM intake.logs_raw OFFSET 5',
    'SELECT id FROM intake.logs_raw WHERE id IN intake.feedback_raw',
    'SELECT id FROM intake.logs_raw WHERE id IN (SELECT id FROM intake.feedback_raw)',
  ]) {
    t.throws(() => view(select), /per shard: it needs GROUP BY/, select)
    t.equal(view(`${select} GROUP BY id`).length, 1, 'with GROUP BY it reads all shards')
  }
  const union = 'SELECT id FROM intake.logs_raw UNION ALL SELECT id FROM intake.feedback_raw'
  t.match(view(union), [/intake\.v .*intake\.logs_raw UNION/], 'with UNION it reads all shards')
  t.end()
})

t.test('a statement or table without a rule is an error', (t) => {
  t.throws(() => clusterStatements('DROP TABLE intake.logs_raw', layout), /no form/)
  const table =
    'CREATE TABLE IF NOT EXISTS intake.other (\n  a Int8\n)\nENGINE = MergeTree ORDER BY a'
  t.throws(() => clusterStatements(table, layout), /not known where/)
  t.same(clusterStatements('ALTER TABLE intake.logs_raw ADD COLUMN a Int8', layout), [
    "ALTER TABLE intake.logs_raw_local ON CLUSTER 'fleet' ADD COLUMN a Int8",
    "ALTER TABLE intake.logs_raw ON CLUSTER 'fleet' ADD COLUMN a Int8",
  ])
  const sorted = 'ALTER TABLE intake.outcomes_raw ADD COLUMN a Int8, MODIFY ORDER BY (minute, a)'
  t.same(clusterStatements(sorted, layout), [
    "ALTER TABLE intake.outcomes_raw_local ON CLUSTER 'fleet' ADD COLUMN a Int8, MODIFY ORDER BY (minute, a)",
    "ALTER TABLE intake.outcomes_raw ON CLUSTER 'fleet' ADD COLUMN a Int8",
  ])
  t.same(
    clusterStatements('ALTER TABLE intake.logs_raw ADD INDEX i a TYPE minmax', layout).length,
    1,
  )
  t.same(clusterStatements('ALTER TABLE intake.logs_raw MODIFY SETTING a = 1', layout), [
    "ALTER TABLE intake.logs_raw_local ON CLUSTER 'fleet' MODIFY SETTING a = 1",
  ])
  t.end()
})

t.test('the shard of a row depends on its time, and is read back from the table', (t) => {
  const shards = {
    counts: [2, 3, 5],
    changes: ['2026-01-01 00:00:00.000', '2027-01-01 00:00:00.000'],
  }
  const key = shardingKey(shards, 'id', 'time')
  t.equal(
    key,
    "multiIf(time < toDateTime64('2026-01-01 00:00:00.000', 3, 'UTC'), sipHash64(id) % 2, " +
      "time < toDateTime64('2027-01-01 00:00:00.000', 3, 'UTC'), sipHash64(id) % 3, sipHash64(id) % 5)",
  )
  t.same(parseShards(`Distributed('c', 'intake', 'logs_raw_local', ${key})`), shards)
  t.end()
})

t.test('shards are added from a time that no row has yet', (t) => {
  const shards = { counts: [2], changes: [] }
  t.throws(() => addShards(shards, 3, minutes(14)), { name: 'MigrationError' })
  const added = addShards(shards, 3, minutes(60))
  t.same(added.counts, [2, 3])
  t.throws(() => addShards(added, 4, minutes(30)), /after/)
  t.end()
})

t.test('statements on partitions, mutations and system tables reach every server', async (t) => {
  const single = {}
  const fleet = { cluster: 'fleet' }
  t.equal(alterStored(single, 'logs_raw', 'DROP x'), 'ALTER TABLE intake.logs_raw DROP x')
  t.equal(
    alterStored(fleet, 'logs_raw', 'DELETE WHERE id IN (SELECT id FROM intake.logs_raw)'),
    "ALTER TABLE intake.logs_raw_local ON CLUSTER 'fleet' DELETE WHERE id IN (SELECT id FROM intake.logs_raw_local)",
  )
  t.same(
    [single, fleet].map((at) => storedTable(at, 'logs_raw')),
    ['logs_raw', 'logs_raw_local'],
  )
  t.equal(systemTable(single, 'parts'), 'system.parts')
  t.equal(systemTable(fleet, 'parts'), "clusterAllReplicas('fleet', system.parts)")
  const sent: string[] = []
  const command = async (sql: string) => void sent.push(sql)
  await syncReplicas({ command }, ['logs_raw'])
  t.same(sent, [])
  await syncReplicas({ command, ...fleet }, ['logs_raw', 'hours_raw'])
  t.same(sent, [
    "SYSTEM SYNC REPLICA ON CLUSTER 'fleet' intake.logs_raw_local",
    "SYSTEM SYNC REPLICA ON CLUSTER 'fleet' intake.hours_raw",
  ])
})

t.test('an interrupted removal of an analyst leaves no view that shows rows', async (t) => {
  const sent: string[] = []
  const command = async (sql: string) => {
    sent.push(sql)
    throw new Error('no response')
  }
  const clickhouse = { command, cluster: 'fleet' } as never
  await t.rejects(dropAnalyst(clickhouse, limited()), /no response/)
  t.match(sent, [/^DROP DATABASE IF EXISTS intake_mobile ON CLUSTER/])
})
