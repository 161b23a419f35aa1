import t from 'tap'
import { defineAnalyst, databaseOf } from '../src/index.ts'
import { feedbackRow, insertRows, logRow, uuidV7 } from './fixture.ts'
import { limited, password, startWithAnalysts } from './limited-analyst.ts'

/** Texts of rows, or values, that the analyst must never see. */
const secrets = {
  foreign: 'Quagga',
  hidden: 'Hoopoe',
  user: 'Wombat',
  device: 'badc0ffe-0000-4000-8000-00000000beef',
} as const

const mine = limited({
  without: ['email', 'text', 'extra', 'request_id'],
  pseudonyms: ['unique_user_id', 'device_uuid'],
})
const { owner, analyst, ask } = await startWithAnalysts(t, [mine])
const database = databaseOf(mine)

const own = { unique_user_id: secrets.user, device_uuid: secrets.device }
const other = {
  bundle_identifier: `com.example.${secrets.foreign}`,
  unique_user_id: secrets.foreign,
  event: secrets.foreign,
  country: 'QG',
}
/** Rows of both applications alternate in one granule, and their events have the same times. */
const times = Array.from({ length: 200 }, (_, n) =>
  new Date(Date.UTC(2026, 10, 21, 3, 0, 0, n)).toISOString(),
)
const rows = times.flatMap((time) => [
  logRow({ ...own, id: uuidV7(time), time, extra: { x: secrets.hidden } }),
  logRow({ ...other, id: uuidV7(time), time, params: { [secrets.foreign]: secrets.foreign } }),
  logRow({ ...other, id: uuidV7(time), time, bundle_identifier: 'aaa', event: 'rare' }),
])
const texts = { email: `${secrets.hidden}@example.com`, text: secrets.hidden }
const feedback = [
  feedbackRow({ ...own, ...texts, extra: { x: secrets.hidden } }),
  feedbackRow({
    bundle_identifier: other.bundle_identifier,
    text: secrets.foreign,
    email: `${secrets.foreign}@x.com`,
  }),
]
await insertRows(owner, 'logs', rows)
await insertRows(owner, 'feedback', feedback)
await owner.command(`INSERT INTO intake.hours_raw (bundle_identifier, hour, event_counts, device_states, ver)
  SELECT '${other.bundle_identifier}', toDateTime('2026-11-21 03:00:00', 'UTC'), [('${secrets.foreign}', NULL, '', 5)], [], 1`)
await owner.command(`INSERT INTO intake.days_raw (bundle_identifier, day, entries, warnings, ver)
  SELECT '${other.bundle_identifier}', toDate('2026-11-21'),
    [('${secrets.foreign}', '', 'event', NULL, '', now64(3), now64(3), 1, 1)], [], 1`)
await owner.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
  SELECT now(), '${secrets.foreign}', 'logs', 'accepted', generateUUIDv4(), 1`)
await defineAnalyst(owner, mine)
const [key] = await owner.query<{ secret: string }>('SELECT secret FROM intake.pseudonym_key')
const long = [
  ...Object.values(secrets),
  key?.secret ?? 'no key',
  secrets.device.replaceAll('-', ''),
]
const forbidden = new RegExp([...long, other.country].join('|'))
/** Random bytes of a binary format contain two letters now and then, but none of the longer texts. */
const forbiddenInBytes = new RegExp(long.join('|'))

const views = await owner.query<{ name: string }>(
  `SELECT name FROM system.tables WHERE database = '${database}' ORDER BY name`,
)
const everything = views.map(({ name }) => `${database}.${name}`)

/** Statements by what they try. Each may fail or succeed, but shows nothing that it should not. */
const attacks: Readonly<Record<string, readonly string[]>> = {
  'all of every view': everything.flatMap((view) => [
    `SELECT * FROM ${view}`,
    `SELECT * FROM ${view} FORMAT Native`,
    `DESCRIBE TABLE ${view}`,
    `SHOW CREATE TABLE ${view}`,
  ]),
  'the tables behind the views': [
    'SELECT * FROM intake.logs_raw',
    'SELECT * FROM intake.logs',
    'SELECT * FROM intake.dead_letters',
    'SELECT * FROM intake.outcomes',
    'SELECT * FROM intake.journal',
    'SELECT * FROM intake.analysts',
    'SELECT * FROM intake.pseudonym_key',
    `SELECT * FROM ${database}.dead_letters`,
    `SELECT * FROM ${database}.outcomes`,
    'SHOW CREATE TABLE intake.logs_raw',
    'DESCRIBE TABLE intake.logs',
    'SHOW TABLES FROM intake',
    'EXISTS TABLE intake.logs_raw',
  ],
  subqueries: [
    `SELECT * FROM ${database}.logs WHERE bundle_identifier IN (SELECT bundle_identifier FROM intake.logs_raw)`,
    `SELECT (SELECT any(event) FROM intake.logs_raw)`,
    `WITH all AS (SELECT * FROM intake.logs) SELECT * FROM all`,
    `SELECT * FROM (SELECT *, 1 FROM ${database}.logs) WHERE bundle_identifier != 'com.example.app'`,
    `SELECT email FROM ${database}.feedback`,
    `SELECT shown.email FROM ${database}.feedback AS shown`,
    `SELECT keyed.secret FROM ${database}.logs`,
    `SELECT secret FROM ${database}.logs`,
    `SELECT COLUMNS('.*') FROM ${database}.feedback`,
    `SELECT * EXCEPT id FROM ${database}.feedback`,
    `SELECT ver, is_deleted, _part, _partition_id, _table, _database FROM ${database}.logs`,
  ],
  'merge() and other table functions': [
    `SELECT * FROM merge('intake.*', '.*')`,
    `SELECT * FROM merge(REGEXP('^intake'), 'logs')`,
    `SELECT * FROM merge('${database}', '.*')`,
    `SELECT * FROM view(SELECT * FROM intake.logs_raw)`,
    `SELECT * FROM viewExplain('EXPLAIN', '', (SELECT * FROM ${database}.logs))`,
    `SELECT * FROM mergeTreeIndex('intake', 'logs_raw')`,
    `SELECT * FROM mergeTreeProjection('intake', 'logs_raw', 'p')`,
    `SELECT * FROM mergeTreeAnalyzeIndexes('intake', 'logs_raw')`,
    `SELECT * FROM remote('127.0.0.1', 'intake', 'logs_raw')`,
    `SELECT * FROM cluster('default', 'intake', 'logs_raw')`,
    `SELECT * FROM loop('intake', 'logs_raw')`,
    `SELECT * FROM dictionary('intake.logs_raw')`,
    `SELECT * FROM file('data/intake/logs_raw/*/data.bin', 'RawBLOB')`,
    `SELECT * FROM executable('cat', TSV, 'x String')`,
    `SELECT hasColumnInTable('intake', 'logs_raw', '${secrets.foreign}')`,
    `SELECT joinGet('intake.logs_raw', 'event', 1)`,
  ],
  UNION: [
    `SELECT event FROM ${database}.logs UNION ALL SELECT event FROM intake.logs_raw`,
    `SELECT event FROM intake.logs_raw EXCEPT SELECT event FROM ${database}.logs`,
    `SELECT event FROM ${database}.logs INTERSECT SELECT event FROM intake.logs`,
    `SELECT event FROM ${database}.logs UNION DISTINCT SELECT event FROM ${database}.catalogue`,
  ],
  'error texts': [
    ...['logs', 'logs_flat', 'feedback', 'feedback_flat', 'devices', 'sessions', 'hours'].flatMap(
      (view) => [
        `SELECT * FROM ${database}.${view} WHERE toUInt8(bundle_identifier) = 1`,
        `SELECT * FROM ${database}.${view} WHERE throwIf(bundle_identifier != 'com.example.app', 'x')`,
        `SELECT toUInt8(toString(*)) FROM ${database}.${view}`,
      ],
    ),
    `SELECT toUInt8(unique_user_id) FROM ${database}.logs`,
    `SELECT count() FROM ${database}.logs WHERE toUInt8(event) = 1`,
    `SELECT count() FROM ${database}.logs WHERE toUInt8(country) = 1`,
    `SELECT count() FROM ${database}.logs WHERE toDate(device_uuid::String) = today() OR bundle_identifier = 'x'`,
    `SELECT * FROM ${database}.logs WHERE accurateCast(params::String, 'UInt8') = 1`,
    `SELECT toUInt8(name) FROM system.tables`,
    `SELECT * FROM ${database}.logs ORDER BY toUInt8(event)`,
    `SELECT any(event) FROM ${database}.logs GROUP BY toUInt8(bundle_identifier)`,
    `SELECT * FROM ${database}.logs AS a JOIN ${database}.hours AS b ON toUInt8(a.event) = toUInt8(b.event)`,
  ],
  settings: [
    ...[
      "additional_table_filters = {'intake.logs_raw': 'throwIf(1, event)'}",
      "additional_result_filter = 'toUInt8(event)'",
      "parallel_replicas_custom_key = 'toUInt8(event)'",
      "short_circuit_function_evaluation = 'disable'",
      'final = 0',
      'optimize_move_to_prewhere_if_final = 1, query_plan_optimize_prewhere = 1',
      'enable_analyzer = 0',
      'readonly = 0',
      'use_query_cache = 1',
      "send_logs_level = 'trace'",
      'query_plan_enable_optimizations = 0',
      'apply_row_policy_after_final = 0, apply_prewhere_after_final = 0',
    ].flatMap((setting) => [
      `SELECT * FROM ${database}.logs WHERE toUInt8(event) = 1 SETTINGS ${setting}`,
      `SELECT count(), min(event), max(event), any(bundle_identifier) FROM ${database}.logs SETTINGS ${setting}`,
      `EXPLAIN actions = 1, indexes = 1 SELECT * FROM ${database}.logs WHERE event > 'a' SETTINGS ${setting}`,
    ]),
    ...['', 'enable_analyzer = 0, ', 'allow_experimental_analyzer = 0, '].flatMap((setting) =>
      ['logs', 'logs_flat', 'devices'].flatMap((view) =>
        ['unique_user_id', 'toString(device_uuid)'].map(
          (column) =>
            `SELECT count() FROM ${database}.${view} WHERE toUInt8(${column}) = 1 SETTINGS ${setting}prefer_column_name_to_alias = 1`,
        ),
      ),
    ),
    // In a subquery, no constraint of the profile is checked.
    ...[
      ['feedback', 'feedback_raw', 'toUInt8(text) = 1'],
      ['feedback', 'feedback_raw', "toUInt8(ifNull(email, '1')) = 1"],
      ['logs', 'logs_raw', 'toUInt8(unique_user_id) = 1'],
      ['logs', 'logs_raw', 'toUInt8(toJSONString(extra)) = 1'],
      ['logs', 'logs_raw', 'toUInt8(event) = 1'],
      ['logs', 'pseudonym_key', 'toUInt8(secret) = 1'],
    ].flatMap(([view, table, condition]) =>
      [
        `additional_table_filters = {'intake.${table}': '${condition?.replaceAll("'", "''")}'}`,
        `parallel_replicas_custom_key = '${condition?.replaceAll("'", "''")}', parallel_replicas_count = 2`,
      ].flatMap((setting) => [
        `SELECT * FROM (SELECT * FROM ${database}.${view} SETTINGS ${setting})`,
        `SELECT (SELECT count() FROM ${database}.${view} SETTINGS ${setting})`,
        `(SELECT count() FROM ${database}.${view} SETTINGS ${setting}) UNION ALL SELECT 1`,
      ]),
    ),
    'SET readonly = 0',
    'SET additional_table_filters = {}',
    `SET ROLE ALL`,
  ],
  EXPLAIN: ['logs', 'devices', 'feedback', 'gaps', 'hours', 'catalogue', 'device_hours'].flatMap(
    (view) =>
      [
        'EXPLAIN actions = 1, indexes = 1, header = 1, projections = 1, sorting = 1, description = 1',
        'EXPLAIN json = 1, actions = 1, indexes = 1',
        'EXPLAIN ESTIMATE',
        'EXPLAIN SYNTAX run_query_tree_passes = 1',
        'EXPLAIN QUERY TREE run_passes = 1, dump_ast = 1',
      ].map(
        (explain) => `${explain} SELECT * FROM ${database}.${view} WHERE bundle_identifier > ''`,
      ),
  ),
  'SHOW and rights': [
    'SHOW GRANTS',
    'SHOW GRANTS FOR `intake_mobile-definer`',
    'SHOW CREATE USER `intake_mobile-definer`',
    'SHOW CREATE ROW POLICY intake_mobile ON intake.logs_raw',
    'SHOW ROW POLICIES',
    'EXECUTE AS `intake_mobile-definer` SELECT * FROM intake.logs_raw',
    'EXECUTE AS intake SELECT * FROM intake.logs_raw',
    'GRANT SELECT ON intake.* TO intake_mobile',
    `CREATE VIEW ${database}.more DEFINER = \`intake_mobile-definer\` SQL SECURITY DEFINER AS SELECT * FROM intake.logs_raw`,
    `CREATE OR REPLACE VIEW ${database}.logs AS SELECT 1`,
    `CREATE TEMPORARY TABLE copy AS SELECT * FROM intake.logs_raw`,
    `CREATE DICTIONARY ${database}.d (id UUID, event String) PRIMARY KEY id SOURCE(CLICKHOUSE(TABLE 'logs_raw' DB 'intake')) LAYOUT(FLAT()) LIFETIME(0)`,
    `CREATE FUNCTION leak AS () -> (SELECT any(event) FROM intake.logs_raw)`,
    `INSERT INTO ${database}.logs SELECT * FROM ${database}.logs`,
    `ALTER TABLE ${database}.logs MODIFY QUERY SELECT 1`,
    `DROP TABLE ${database}.logs`,
    `BACKUP TABLE intake.logs_raw TO File('x')`,
    'SYSTEM FLUSH LOGS',
    'KILL QUERY WHERE 1',
  ],
  dictionaries: [
    "SELECT dictGet('intake.pseudonym_key', 'secret', 0)",
    "SELECT dictGetOrNull('intake.logs_raw', 'event', generateUUIDv4())",
    'SELECT * FROM system.dictionaries',
    'SHOW DICTIONARIES FROM intake',
  ],
  'projections and sampling': [
    `SELECT count() FROM ${database}.logs SAMPLE 1 OFFSET 0`,
    `SELECT * FROM ${database}.logs SAMPLE 0.5`,
    `SELECT min(time), max(time), count() FROM ${database}.logs SETTINGS optimize_use_implicit_projections = 1`,
    `SELECT min(bundle_identifier), max(bundle_identifier) FROM ${database}.logs SETTINGS optimize_trivial_count_query = 1`,
    `SELECT * FROM ${database}.logs PREWHERE toUInt8(event) = 1`,
    `SELECT topK(10)(event), groupUniqArray(country), uniq(bundle_identifier) FROM ${database}.logs`,
    `SELECT * FROM ${database}.logs LIMIT 1 WITH TIES`,
    `SELECT event FROM ${database}.logs QUALIFY row_number() OVER () < 9999`,
  ],
}

for (const [what, statements] of Object.entries(attacks)) {
  t.test(`never a byte of another application or a left-out column: ${what}`, async (t) => {
    for (const statement of statements) {
      const { text, headers } = await ask(database, password, statement)
      // The statement may quote itself, and names the foreign text only where the attacker knows it.
      const pattern = statement.endsWith('FORMAT Native') ? forbiddenInBytes : forbidden
      const known = pattern.exec(
        text.replaceAll(secrets.foreign, (found) => (statement.includes(found) ? '' : found)),
      )
      if (known) t.fail(`${statement}: ${text.slice(0, 400)}`)
      if (forbidden.test(JSON.stringify(headers)))
        t.fail(`${statement}: ${JSON.stringify(headers)}`)
    }
    t.pass(`${statements.length} statements`)
  })
}

t.test('subqueries of an analyst evaluate nothing with the rights of the owner', async (t) => {
  for (const setting of [
    "additional_table_filters = {'intake.logs_raw': 'throwIf(ver > 0)'}",
    "parallel_replicas_custom_key = 'throwIf(ver > 0)', parallel_replicas_count = 2",
  ]) {
    const statement = `SELECT count() FROM (SELECT event FROM intake.logs SETTINGS ${setting})`
    t.match(await ask('analyst', 'analyst', statement), { status: 200, text: '600\n' })
  }
})

t.test('no system table shows more', async (t) => {
  const tables = await owner.query<{ name: string }>(
    "SELECT concat(database, '.`', name, '`') AS name FROM system.tables WHERE database IN ('system', 'information_schema', 'INFORMATION_SCHEMA')",
  )
  t.ok(tables.length > 100)
  const readable: string[] = []
  for (const { name } of tables) {
    if (/zeros|numbers|primes|generate_series/.test(name)) continue
    const answer = await ask(database, password, `SELECT * FROM ${name} LIMIT 100000`)
    const { status } = answer
    // The random name of the data folder may have the two letters of the country.
    const text = answer.text.replaceAll(/intake-test-\w+/g, '')
    if (status === 200 && text !== '') readable.push(name)
    const found = forbidden.exec(text)
    if (found) t.fail(`${name}: ${text.slice(Math.max(0, found.index - 100), found.index + 100)}`)
  }
  t.comment(readable.join(' '))
})

t.test('the analyst has the rights of tools, and the attacks reached the views', async (t) => {
  const count = await ask(database, password, `SELECT count() FROM ${database}.logs`)
  t.match(count, { status: 200, text: '200\n' })
  const tables = await ask(
    database,
    password,
    "SELECT DISTINCT database FROM system.tables WHERE database LIKE 'intake%'",
  )
  t.equal(tables.text, `${database}\n`)
})

t.test('nobody can log in as the definer', async (t) => {
  for (const secret of ['', '0'.repeat(64), password]) {
    const { status, text } = await ask(`${database}-definer`, secret, 'SELECT 1')
    t.not(status, 200)
    t.notMatch(text, /^1\n/)
  }
})

t.test('what a limited analyst asks does not change what others see', async (t) => {
  const condition = "event = 'rare' AND country = 'QG'"
  for (const cache of ['1', 'DEFAULT']) {
    for (const view of ['logs', 'logs_flat']) {
      for (let i = 0; i < 3; i++) {
        const asked = `SELECT count() FROM ${database}.${view} WHERE ${condition} SETTINGS use_query_condition_cache = ${cache}`
        t.equal((await ask(database, password, asked)).text, '0\n')
      }
      const all = `SELECT count() AS n FROM intake.${view} WHERE ${condition}`
      t.same(await analyst.query(all), [{ n: 200 }])
      t.same(await owner.query(`SELECT count() AS n FROM intake.logs_raw WHERE ${condition}`), [
        { n: 200 },
      ])
    }
  }
})

t.test('a subquery of an analyst shows no row that was replaced', async (t) => {
  const [time = ''] = times
  const record = { id: uuidV7(time), time, device_uuid: secrets.device }
  await owner.command('SYSTEM STOP MERGES intake.logs_raw')
  // The first version wins. Each is in a part with others, of which an index can leave out granules.
  for (const [second, unique_user_id] of ['shown', 'replaced'].entries()) {
    const received_at = `2026-11-21T03:00:0${second}.000Z`
    const others = Array.from({ length: 20_000 }, (_, n) =>
      logRow({ id: uuidV7(time), time, unique_user_id: `${second}-${n}` }),
    )
    const versions = [logRow({ ...record, unique_user_id, received_at }), ...others]
    await insertRows(owner, 'logs', versions)
  }
  for (const setting of ['use_skip_indexes_if_final_exact_mode', 'final', 'apply_deleted_mask']) {
    const subquery = `SELECT id FROM intake.logs WHERE unique_user_id = 'replaced' SETTINGS ${setting} = 0`
    const statement = `SELECT count() FROM (${subquery})`
    t.match(await ask('analyst', 'analyst', statement), { status: 200, text: '0\n' }, setting)
  }
})
