import { gzipSync } from 'node:zlib'
import { startClickHouse } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { until } from '@intake/test-kit/until'
import t from 'tap'
import { migrate } from '../src/index.ts'
import { failureOf, feedbackRow, insertRows, logRow, randomDoubles, uuidV7 } from './fixture.ts'
import { recordViews, views } from './views.ts'

const dataDir = createDataDir(t)
const options = { dataDir, port: 0, analystPassword: 'analyst' }
const first = await startClickHouse(options)
const owner = openClickHouse(t, { url: first.url })
await migrate({ clickhouse: owner })

const device = (digit: number) => `00000000-0000-4000-8000-00000000000${digit}`
const at = (time: string, fields: object = {}) => {
  const iso = `2026-11-20T${time}:00.000Z`
  return { id: uuidV7(iso), time: iso, ...fields }
}

const values = [
  ['integer', 10, 10, '10', null],
  ['fraction', 10.5, 10.5, '10.5', null],
  ['integer as fraction', 10.0, 10, '10', null],
  ['digits', '10', 10, '10', null],
  ['text', 'ten', null, 'ten', null],
  ['empty', '', null, '', null],
  ['not a number', 'nan', null, 'nan', null],
  ['too large', '1e999', null, '1e999', null],
  ['true', true, null, 'true', true],
  ['text true', 'TRUE', null, 'TRUE', true],
  ['one', 1, 1, '1', true],
  ['zero', '0', 0, '0', false],
  ['null', null, null, null, null],
  ['absent', undefined, null, null, null],
  ['list', ['a', 2], null, '["a",2]', null],
  ['object', { a: 1 }, null, null, null],
] as const

const numbers = values.map(([name, v]) => logRow({ event: name, params: { v } }))
/** The row is a text, because JavaScript would round its large number. */
const huge = JSON.stringify(logRow({ event: 'huge', params: { v: 'huge' } })).replace(
  '{"v":"huge"}',
  '{"v":18446744073709551615}',
)

const visits = [
  logRow({ ...at('10:00'), device_uuid: device(1), unique_user_id: 'old', device: { os: 'A' } }),
  logRow({ ...at('10:30'), device_uuid: device(1), unique_user_id: 'old', device: { os: 'A' } }),
  logRow({ ...at('11:30'), device_uuid: device(1), unique_user_id: 'new', device: { os: 'B' } }),
  // Arrives late: it is inserted after the row above, but has an earlier time.
  logRow({ ...at('09:59'), device_uuid: device(1), unique_user_id: 'late', device: { os: 'C' } }),
  logRow({ ...at('10:00'), device_uuid: device(2), bundle_identifier: 'com.example.other' }),
].map((row) => ({ ...row, event: 'visit' }))
const opinion = feedbackRow({
  ...at('08:00'),
  country: 'DE',
  device_uuid: device(3),
  device: { os: 'D' },
})

await insertRows(owner, 'logs', numbers)
await owner.insertRows({ table: 'logs', members: [gzipSync(huge)], rows: 1 })
// Inserts the rows twice, as happens after a lost confirmation.
for (const _ of [1, 2]) await insertRows(owner, 'logs', visits)
await insertRows(owner, 'feedback', [opinion])
// Restarts the server before the queries, because the functions must survive a restart.
await first.stop()
const server = await startClickHouse(options)
t.teardown(() => server.stop())
const analyst = openClickHouse(t, { url: server.analystUrl })
const writer = openClickHouse(t, { url: server.url })

t.test('intake_number, intake_text and intake_bool read what any client sends', async (t) => {
  const rows = await analyst.query(
    `SELECT event, intake_number(params.v) AS number, intake_text(params.v) AS text,
       intake_bool(params.v) AS bool
     FROM intake.logs WHERE event NOT IN ('visit', 'huge')`,
  )
  const expected = values.map(([event, , number, text, bool]) => ({ event, number, text, bool }))
  const byEvent = (a: { event?: string }, b: { event?: string }) =>
    (a.event ?? '').localeCompare(b.event ?? '')
  t.same(rows.toSorted(byEvent), expected.toSorted(byEvent))

  t.same(
    await analyst.query(
      `SELECT intake_number(params.v) AS number, intake_text(params.v) AS text
       FROM intake.logs WHERE event = 'huge'`,
    ),
    [{ number: 2 ** 64, text: '18446744073709551615' }],
  )
})

t.test('the functions agree where a typed subcolumn silently skips values', async (t) => {
  const [row] = await analyst.query(
    `SELECT avg(params.v.:Float64) AS skipping, avg(intake_number(params.v)) AS right
     FROM intake.logs WHERE event IN ('integer', 'fraction', 'digits')`,
  )
  t.same(row, { skipping: 10.5, right: (10 + 10.5 + 10) / 3 })
})

t.test('the functions take columns of other types', async (t) => {
  t.same(
    await analyst.query(
      `SELECT intake_number(device.battery_level) AS a, intake_text(device.os) AS b,
         intake_bool(device.is_emulator) AS c, intake_number('7') AS d, intake_text(5) AS e
       FROM intake.logs WHERE event = 'visit' AND device.os = 'A' LIMIT 1`,
    ),
    [{ a: null, b: 'A', c: null, d: 7, e: '5' }],
  )
})

t.test('a device shows its latest record, once, also if it only sent feedback', async (t) => {
  t.same(
    await analyst.query(
      `SELECT device_uuid, unique_user_id AS user, device.os AS os, first_seen, last_seen
       FROM intake.devices
       WHERE bundle_identifier = 'com.example.app' AND first_seen < '2026-11-21'
       ORDER BY device_uuid`,
    ),
    [
      {
        device_uuid: device(1),
        user: 'new',
        os: 'B',
        first_seen: '2026-11-20 09:59:00.000',
        last_seen: '2026-11-20 11:30:00.000',
      },
      {
        device_uuid: device(3),
        user: 'user-1',
        os: 'D',
        first_seen: '2026-11-20 08:00:00.000',
        last_seen: '2026-11-20 08:00:00.000',
      },
    ],
  )
})

t.test('a session ends with a pause of more than 30 minutes', async (t) => {
  t.same(
    await analyst.query(
      `SELECT started_at, ended_at, events FROM intake.sessions
       WHERE bundle_identifier = 'com.example.app' AND device_uuid = '${device(1)}'
       ORDER BY started_at`,
    ),
    [
      { started_at: '2026-11-20 09:59:00.000', ended_at: '2026-11-20 10:30:00.000', events: 3 },
      { started_at: '2026-11-20 11:30:00.000', ended_at: '2026-11-20 11:30:00.000', events: 1 },
    ],
  )
})

t.test('a filter by application prunes through every view', async (t) => {
  const reader = openClickHouse(t, { url: server.url })
  for (const view of recordViews) {
    const plan = await reader.query<{ explain: string }>(
      `EXPLAIN indexes = 1 SELECT count() FROM intake.${view} WHERE bundle_identifier = 'nobody'`,
    )
    const text = plan.map(({ explain }) => explain).join('\n')
    t.notMatch(text, /Granules: [1-9]\d*\/\d+\s*$/, view)
    if (text.includes('ReadFromMergeTree')) t.match(text, /bundle_identifier in/, view)
  }
})

t.test('a filter by hour or minute prunes, although the views convert these columns', async (t) => {
  const hours = "toDateTime('2026-01-01 00:00:00', 'UTC') + INTERVAL number HOUR"
  await writer.command(`INSERT INTO intake.hours_raw
    SELECT 'com.example.hours', ${hours}, [('opened', NULL, '', 1)], [], [], 1 FROM numbers(8000)`)
  await writer.command(`INSERT INTO intake.outcomes_raw (minute, api_key_id, kind, code, run, records)
    SELECT ${hours}, 'key', 'logs', 'accepted', generateUUIDv4(), 1 FROM numbers(8000)`)
  for (const [view, column] of [
    ['hours', 'hour'],
    ['device_hours', 'hour'],
    ['outcomes', 'minute'],
  ] as const) {
    const plan = await writer.query<{ explain: string }>(
      `EXPLAIN indexes = 1 SELECT count() FROM intake.${view}
       WHERE ${column} >= '2026-06-05 00:00:00' AND ${column} < '2026-06-06 00:00:00'`,
    )
    const text = plan.map(({ explain }) => explain).join('\n')
    t.match(text, /Parts: 1\/1\d\s/, view)
    const [row] = await writer.query<{ type: string }>(
      `SELECT toTypeName(${column}) AS type FROM intake.${view} LIMIT 1`,
    )
    if (view !== 'device_hours') t.equal(row?.type, "DateTime64(3, 'UTC')", view)
  }
})

t.test('what JDBC, DBeaver and Grafana ask works for the user analyst', async (t) => {
  // Those that are left out are for consoles.
  const shown = views
    .filter((name) => !['recounts', 'counted_names'].includes(name))
    .map((name) => ({ name }))
  for (const sql of [
    `SELECT name FROM system.tables WHERE database = 'intake' ORDER BY name`,
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'intake' ORDER BY table_name`,
    `SELECT TABLE_NAME AS name FROM INFORMATION_SCHEMA.TABLES
     WHERE TABLE_SCHEMA = 'intake' ORDER BY TABLE_NAME`,
    'SHOW TABLES FROM intake',
  ]) {
    t.same(await analyst.query(sql), shown, sql)
  }
  for (const sql of [
    'SELECT version(), timezone(), currentDatabase(), currentUser()',
    'SELECT name FROM system.databases',
    'SHOW DATABASES',
    `SELECT database, table, name, type, default_kind, comment, position FROM system.columns
     WHERE database LIKE 'intake' AND table LIKE 'logs_flat' ORDER BY database, table, position`,
    `SELECT column_name, data_type, is_nullable FROM information_schema.columns
     WHERE table_schema = 'intake' AND table_name = 'logs_flat'`,
    'SELECT schema_name FROM information_schema.schemata',
    'SELECT SCHEMA_NAME FROM INFORMATION_SCHEMA.SCHEMATA',
    `SELECT COLUMN_NAME, DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 'logs_flat'`,
    'SELECT * FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE',
    'SELECT TABLE_NAME FROM INFORMATION_SCHEMA.VIEWS',
    'SELECT name, value FROM system.settings',
    'SELECT name FROM system.functions',
    'SELECT name FROM system.data_type_families',
    'SELECT name FROM system.table_engines',
    'DESCRIBE TABLE intake.logs',
    'DESC TABLE "intake"."logs_flat"',
    'SHOW CREATE TABLE intake.logs_flat',
    'SELECT * FROM `intake`.`logs_flat` LIMIT 0',
    'SELECT * FROM "intake"."feedback_flat" LIMIT 200 OFFSET 0',
    'SELECT 1 FROM (SELECT * FROM intake.logs_flat) AS q LIMIT 0, 200',
    `SELECT toStartOfInterval(toDateTime(time), INTERVAL 60 second) AS minute, count() AS events
     FROM "intake"."logs_flat"
     WHERE time >= toDateTime64(1763596800000 / 1000, 3) AND time <= fromUnixTimestamp64Milli(1795132800000)
     GROUP BY minute ORDER BY minute ASC LIMIT 1000 SETTINGS max_execution_time = 60`,
    `SELECT "time", "device_os" AS "os" FROM "intake"."logs_flat"
     WHERE ("time" >= '2026-11-20 00:00:00') AND ("device_os" IN ('A', 'B')) ORDER BY "time" DESC LIMIT 100`,
    'SELECT DISTINCT device_os FROM intake.logs_flat WHERE device_os IS NOT NULL LIMIT 1000',
    'EXPLAIN SELECT count() FROM intake.logs_flat',
  ]) {
    await t.resolves(analyst.query(sql), sql)
  }
  t.same(await analyst.query('SELECT count() AS n FROM system.parts'), [{ n: 0 }])
  const complex = await analyst.query(
    `SELECT name, type FROM system.columns
     WHERE database = 'intake' AND table LIKE '%flat' AND match(type, 'Tuple|JSON|Dynamic|Object')`,
  )
  t.same(complex, [], 'flat views have plain types only')
})

t.test('an analyst sees and cancels the queries of analysts only', async (t) => {
  const isSlow = "query LIKE '%numbers(60)%' AND query NOT LIKE '%LIKE%'"
  const slow = 'SELECT sum(sleepEachRow(0.5)) FROM numbers(60) SETTINGS max_block_size = 1'
  const list = `SELECT user FROM system.processes WHERE ${isSlow} ORDER BY user`
  const ends = [analyst, writer].map((client) => failureOf(client.query(slow)))
  const both = [{ user: 'analyst' }, { user: 'intake' }]
  await until('both run', async () => (await writer.query(list)).length === both.length)

  t.same(await analyst.query(list), both.slice(0, 1))
  await analyst.lines(`KILL QUERY WHERE ${isSlow} SYNC`)
  t.match(await ends[0], { code: 394 })
  t.same(await writer.query(list), both.slice(1))
  await writer.lines(`KILL QUERY WHERE ${isSlow} SYNC`)
  t.match(await ends[1], { code: 394 })
})

t.test('JSON is text in the format Native, and only there', async (t) => {
  const { username, password } = new URL(server.analystUrl)
  const ask = async (format: string, settings = '') => {
    const response = await fetch(`http://127.0.0.1:${server.port}/?${settings}`, {
      method: 'POST',
      body: `SELECT params FROM intake.logs WHERE event = 'integer' FORMAT ${format}`,
      headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      signal: AbortSignal.timeout(60_000),
    })
    return Buffer.from(await response.arrayBuffer()).toString('latin1')
  }
  const text = '{"v":10}'
  t.ok((await ask('Native')).includes(text))
  t.notOk((await ask('Native', 'output_format_native_write_json_as_string=0')).includes(text))
  // JDBC expects text only if its own connection has asked for it.
  t.notOk((await ask('RowBinary')).includes(text))
  t.equal(await ask('JSONEachRow'), `{"params":${text}}\n`)
})

t.test('every double is readable in the flat views', async (t) => {
  const doubles = [2.5e19, -2.5e19, 2 ** 64, 1e20, 9.999e20, 1e21, -9.223372036854778e18, 5e-324]
  const integers = ['18446744073709551615', '-9223372036854775808', '9007199254740993']
  const sent = [...doubles.map((double) => double.toExponential()), ...integers]
  const text = '25000000000000000000,\\"-99999999999999999999\\\\'
  const json = `{"ms":5,"n":[${sent.join(',')}],"one":2.5e19,"s":"${text}","25000000000000000000":1}`
  const rows = { logs: logRow({ event: 'doubles' }), feedback: feedbackRow() }
  for (const table of ['logs', 'feedback'] as const) {
    const { params: _, device_extra: __, ...row } = { params: {}, ...rows[table] }
    const names = table === 'logs' ? ['params', 'device_extra', 'extra'] : ['device_extra', 'extra']
    const fields = names.map((name) => `"${name}":${json}`).join(',')
    const members = [gzipSync(`${JSON.stringify(row).slice(0, -1)},${fields}}`)]
    await writer.insertRows({ table, members, rows: 1 })
    for (const name of names) {
      t.same(
        await analyst.query(
          `SELECT isValidJSON(${name}) AS valid, JSON_VALUE(${name}, '$.ms') AS ms,
             intake_number(JSON_VALUE(${name}, '$.one')) AS one, JSON_VALUE(${name}, '$.s') AS s,
             JSONExtract(${name}, 'n', 'Array(Float64)') AS n
           FROM intake.${table}_flat WHERE id = {id:UUID}`,
          { id: row.id },
        ),
        [{ valid: 1, ms: '5', one: 2.5e19, s: JSON.parse(`"${text}"`), n: sent.map(Number) }],
        `${table}.${name}`,
      )
    }
  }
  const [lists] = await analyst.query<{ list: string; all: string }>(
    `SELECT intake_text(params.n) AS list, JSONExtractRaw(intake_json(params), 'n') AS all
     FROM intake.logs WHERE event = 'doubles'`,
  )
  t.same(JSON.parse(lists?.list ?? ''), sent.map(Number))
  t.same(JSON.parse(lists?.all ?? ''), sent.map(Number))
})

t.test('intake_number reads every double exactly, also in the flat view', async (t) => {
  const doubles = randomDoubles(2_000)
  const rows = doubles.map((v) => logRow({ event: 'exact', params: { v } }))
  await insertRows(writer, 'logs', rows)
  for (const [view, value] of [
    ['logs', 'params.v'],
    ['logs_flat', "JSON_VALUE(params, '$.v')"],
  ] as const) {
    const found = await analyst.query<{ v: number }>(
      `SELECT intake_number(${value}) AS v FROM intake.${view}
       WHERE event = 'exact' ORDER BY indexOf({ids:Array(UUID)}, id)`,
      { ids: rows.map(({ id }) => id) },
    )
    const read = found.map(({ v }) => v)
    t.same(read, doubles, view)
  }
  // The analyst's profile must set `precise_float_parsing`, because ClickHouse before 26.7 reads
  // some doubles inexactly by default. The queries above cannot show this with a later version.
  t.same(
    await analyst.query(
      `SELECT value FROM system.settings WHERE name = 'precise_float_parsing' AND changed`,
    ),
    [{ value: '1' }],
  )
})

t.test('slashes in JSON are printed as they were sent', async (t) => {
  t.same(await analyst.lines(`SELECT '/a/b' AS path`), ['{"path":"/a/b"}'])
})
