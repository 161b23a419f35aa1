import { gzipSync } from 'node:zlib'
import t from 'tap'
import { deviceFields } from '@intake/contract'
import {
  feedbackRow,
  insertRows,
  logRow,
  member,
  randomDoubles,
  startServer,
  withSettings,
} from './fixture.ts'
import { jsonGenerator, normalForm, parseJson, type JsonObject } from './json-generator.ts'

const { server, connect } = await startServer(t)
const clickhouse = connect(t)

type Row = Record<string, unknown> & { params: JsonObject }

const readBack = async (table: 'logs' | 'feedback', row: { id: string }): Promise<Row> => {
  await clickhouse.insertRows({ table, members: [member([row])], rows: 1 })
  const sql = `SELECT * FROM intake.${table} WHERE id = {id:UUID}`
  const [found] = await clickhouse.query<Row>(sql, { id: row.id })
  return found as Row
}

const storedParams = async (params: object) => (await readBack('logs', logRow({ params }))).params

const sampleOf = {
  text: 'text',
  number: 0.5,
  integer: 1,
  boolean: true,
  date: '2026-04-05',
  time: '2026-10-31T00:00:00.000Z',
  texts: ['text'],
}

/** A value of every documented field, and odd ones of some. */
const device: Record<string, unknown> = {
  ...Object.fromEntries(deviceFields.map(({ name, kind }) => [name, sampleOf[kind]])),
  device_model: 'Pixel "8" \\ Ünïcode 😀',
  battery_level: 17.623763082890882,
  bundle_name: 'Exämple\nApp',
  first_install_time: '1969-12-31T23:59:59.999Z',
  is_emulator: false,
  supported_abis: ['arm64-v8a', 'armeabi-v7a'],
  version_code: Number.MAX_SAFE_INTEGER,
}

const text = 'Quotes "\'` \\ tabs\t lines\n\r\0 NULL \\N 😀 e\u0301 \u2028 ' + 'x'.repeat(20_000)

t.test('a time in UTC may have a short fraction or none', async (t) => {
  for (const [sent, read] of [
    ['2026-03-01T21:12:09Z', '2026-03-01 21:12:09.000'],
    ['2026-03-01T21:12:09.5Z', '2026-03-01 21:12:09.500'],
    ['2199-12-31T23:59:59.99Z', '2199-12-31 23:59:59.990'],
  ]) {
    const row = logRow({ device: { build_time: sent }, client_timestamp: sent })
    const found = await readBack('logs', row)
    t.match(found, { device: { build_time: read }, client_timestamp: read })
  }
})

t.test('all device fields are read as sent; dates and times have their types', async (t) => {
  const row = logRow({ device, country: 'DE', client_timestamp: '2026-11-20T21:00:00.500Z' })
  const found = await readBack('logs', row)
  t.same(found, {
    ...row,
    sample_rate: 1,
    time: '2026-11-21 03:00:00.123',
    received_at: '2026-11-21 03:00:01.000',
    extra: {},
    client_timestamp: '2026-11-20 21:00:00.500',
    device: {
      ...device,
      ...Object.fromEntries(
        deviceFields
          .filter(({ kind }) => kind === 'time')
          .map(({ name }) => [name, String(device[name]).replace('T', ' ').replace('Z', '')]),
      ),
    },
  })
  const types = await clickhouse.query(
    `SELECT toTypeName(device.build_time) AS time, toTypeName(device.build_security_patch) AS date,
       toTypeName(received_at) AS received, toTypeName(device.is_emulator) AS emulator,
       toTypeName(device.version_code) AS version, toTypeName(device.battery_level) AS level
     FROM intake.logs LIMIT 1`,
  )
  t.same(types, [
    {
      time: "Nullable(DateTime64(3, 'UTC'))",
      date: 'Nullable(Date32)',
      received: "DateTime64(3, 'UTC')",
      emulator: 'Nullable(Bool)',
      version: 'Nullable(Int64)',
      level: 'Nullable(Float64)',
    },
  ])
})

t.test('absent device fields are NULL, an absent list is empty', async (t) => {
  const expected = Object.fromEntries(Object.keys(device).map((name) => [name, null]))
  const found = await readBack('logs', logRow())
  t.same(found.device, { ...expected, supported_abis: [] })
})

t.test('unknown device fields keep their types', async (t) => {
  const extra = { carrier: 'Ünï', ram: 4096, ratio: 0.1, rooted: true, sim: { slots: [1, 2] } }
  t.same((await readBack('logs', logRow({ device_extra: extra }))).device_extra, extra)
})

t.test('unknown fields elsewhere keep their types and their path', async (t) => {
  const extra = { foo: [1, 'a'], log: { severity: 3, tags: { beta: true } } }
  const row = logRow({ extra })
  t.same((await readBack('logs', row)).extra, extra)
  const [found] = await clickhouse.query(
    'SELECT extra.log.severity AS severity FROM intake.logs WHERE id = {id:UUID}',
    { id: row.id },
  )
  t.same(found, { severity: 3 })
})

t.test('feedback with everything, and with nothing', async (t) => {
  const attachments = [0, 1, 2, 3].map((n) => ({
    key: `feedback/2026/11/21/id/${n}.png`,
    content_type: 'image/png',
    bytes: 10 * 1024 ** 2 + n,
    sha256: String(n).repeat(64),
  }))
  const feedback_id = '0192f8a0-0000-4000-8000-0000000000ab'
  const full = feedbackRow({ feedback_id, email: 'ü@example.com', text, attachments })
  t.match(await readBack('feedback', full), {
    feedback_id,
    email: 'ü@example.com',
    text,
    attachments,
  })
  const empty = await readBack('feedback', feedbackRow())
  t.match(empty, { feedback_id: null, email: null, attachments: [] })
})

t.test('strings are kept byte for byte in every string column', async (t) => {
  const found = await readBack('logs', logRow({ event: text, unique_user_id: text }))
  t.equal(found.event, text)
  t.equal(found.unique_user_id, text)
})

t.test('params keep the types of their values and can be queried', async (t) => {
  const params = {
    screen: 'Home "1"',
    n: 1,
    ratio: 0.1,
    big: 2 ** 63,
    ok: false,
    day: '2026-01-01',
    digits: '42',
    list: [1, 'a', null, 2.5, { b: true }, [1]],
    nested: { deep: { value: 1e300 } },
  }
  const row = logRow({ params })
  t.same((await readBack('logs', row)).params, params)
  const found = await clickhouse.query(
    `SELECT params.screen AS screen, params.n + 1 AS n, params.nested.deep.value AS deep,
       dynamicType(params.day) AS day, dynamicType(params.digits) AS digits,
       dynamicType(params.ok) AS ok
     FROM intake.logs WHERE params.screen.:String = 'Home "1"'`,
  )
  t.same(found, [
    { screen: 'Home "1"', n: 2, deep: 1e300, day: 'String', digits: 'String', ok: 'Bool' },
  ])
})

t.test('integers of 64 bits are exact, in params and columns; floats stay floats', async (t) => {
  const row = logRow()
  const params =
    '{"max":18446744073709551615,"min":-9223372036854775808,"odd":9007199254740993,' +
    '"list":[9223372036854775807,18446744073709551615],"float":9.007199254740992e+15,"large":1e+300}'
  const typed = '{"version_code":9223372036854775807,"sdk_version":-9223372036854775808}'
  const line = JSON.stringify(row)
    .replace('"params":{}', `"params":${params}`)
    .replace('"device":{}', `"device":${typed}`)
    .replace('"device_extra":{}', '"device_extra":{"ram":18446744073709551615}')
  const members = [gzipSync(`${line}\n`)]
  await clickhouse.insertRows({ table: 'logs', members, rows: 1 })
  const [found] = await clickhouse.query(
    `SELECT toString(params.max) AS max, toString(params.min) AS min, toString(params.odd) AS odd,
       toString(params.list) AS list, dynamicType(params.max) AS unsigned,
       dynamicType(params.odd) AS signed, dynamicType(params.float) AS float,
       toString(device.version_code) AS version, toString(device.sdk_version) AS sdk,
       toString(device_extra.ram) AS ram
     FROM intake.logs WHERE id = {id:UUID}`,
    { id: row.id },
  )
  t.same(found, {
    max: '18446744073709551615',
    min: '-9223372036854775808',
    odd: '9007199254740993',
    list: '[9223372036854775807,18446744073709551615]',
    unsigned: 'UInt64',
    signed: 'Int64',
    float: 'Float64',
    version: '9223372036854775807',
    sdk: '-9223372036854775808',
    ram: '18446744073709551615',
  })
})

t.test('an integer beyond 2^53 in an array is rounded only beside fractions', async (t) => {
  const large = '9007199254740993'
  // ClickHouse stores these arrays exactly. The loop adds one more array, which ClickHouse
  // rounds. The gateway sends such an array as text (packages/json/src/text-array.ts).
  const exact = [
    `[${large},1,null]`,
    `[${large},"a",1.5]`,
    `[${large},[1.5]]`,
    `[{"a":${large}},{"a":1.5}]`,
    `[[${large},true],[0.5]]`,
    '[[18446744073709551615],[-5]]',
  ]
  for (const array of [...exact, `[${large},1.5]`]) {
    const row = logRow()
    const line = JSON.stringify(row).replace('"params":{}', `"params":{"v":${array}}`)
    await clickhouse.insertRows({ table: 'logs', members: [gzipSync(`${line}\n`)], rows: 1 })
    const [found] = await clickhouse.query<{ params: string }>(
      'SELECT toJSONString(params) AS params FROM intake.logs WHERE id = {id:UUID}',
      { id: row.id },
    )
    t.equal(found?.params === `{"v":${array}}`, exact.includes(array), found?.params ?? 'none')
  }
})

t.test('a double is stored exactly, also by servers that read it faster by default', async (t) => {
  const writer = connect(t, { url: withSettings(server.url, { precise_float_parsing: '0' }) })
  t.same(await writer.query("SELECT getSetting('precise_float_parsing') AS precise"), [
    { precise: false },
  ])
  const doubles = randomDoubles(2_000)
  const rows = doubles.map((double) =>
    logRow({ event: 'double', device: { battery_level: double }, params: { v: double } }),
  )
  await insertRows(writer, 'logs', rows)
  const found = await clickhouse.query<{ level: number; v: number }>(
    `SELECT device.battery_level AS level, params.v AS v FROM intake.logs
     WHERE event = 'double' ORDER BY indexOf({ids:Array(UUID)}, id)`,
    { ids: rows.map(({ id }) => id) },
  )
  const levels = found.map(({ level }) => level)
  t.same(levels, doubles)
  const values = found.map(({ v }) => v)
  t.same(values, doubles)
})

t.test('a dot in a key is part of the key', async (t) => {
  const params = { 'a.b': 1, a: { b: 2 }, 'http.status': 200, '.': 3 }
  const row = logRow({ params })
  t.same((await readBack('logs', row)).params, params)
  const [found] = await clickhouse.query(
    'SELECT params.`http%2Estatus` AS status, params.a.b AS ab FROM intake.logs WHERE id = {id:UUID}',
    { id: row.id },
  )
  t.same(found, { status: 200, ab: 2 })
})

t.test('values that the JSON column does not distinguish', async (t) => {
  t.same(await storedParams({ a: null, b: {}, c: { d: null }, e: [null] }), { e: [null] })
  t.same(await storedParams({ a: [[1], null] }), { a: [[1], []] })
  t.same(await storedParams({ 'a%2Eb': 1 }), { 'a.b': 1 })
  t.same(await storedParams({ 'a%2Eb': 1, 'a.b': 2 }), { 'a.b': 1 })
})

t.test('params of a megabyte: one value, 80,000 keys, 32 levels', async (t) => {
  const keys = Array.from({ length: 80_000 }, (_, n) => [`k${n}`, n])
  let deep: JsonObject = { end: 1 }
  for (let level = 1; level < 32; level++) deep = { deeper: deep }
  for (const params of [{ v: 'é'.repeat(2 ** 19) }, Object.fromEntries(keys), deep]) {
    const stored = await storedParams(params as object)
    t.equal(JSON.stringify(normalForm(stored)), JSON.stringify(normalForm(params as JsonObject)))
  }
})

t.test('random params are kept, in one part and after merges', async (t) => {
  const { object } = jsonGenerator(20_261_121)
  const rows = Array.from({ length: 2_000 }, () => logRow({ event: 'any', params: object() }))
  for (const half of [rows.slice(0, 1_000), rows.slice(1_000)]) {
    await insertRows(clickhouse, 'logs', half)
  }
  await clickhouse.command('OPTIMIZE TABLE intake.logs_raw FINAL')
  const found = await clickhouse.query<{ id: string; params: string }>(
    `SELECT id, toJSONString(params) AS params FROM intake.logs WHERE event = 'any'`,
  )
  const stored = new Map(
    found.map(({ id, params }) => [id, JSON.stringify(normalForm(parseJson(params)))]),
  )
  const changed = rows.filter(({ id, params }) => {
    return stored.get(id) !== JSON.stringify(normalForm(params))
  })
  t.same(changed, [])
})
