import { randomUUID } from 'node:crypto'
import t, { type Test } from 'tap'
import { insertStatement, type DescribedColumn } from '../src/insert-statement.ts'
import { insertSettings } from '../src/settings.ts'
import { rawTables, type RawTable } from '../src/tables.ts'
import { feedbackRow, logRow, startServer, uuidV7, rowTime } from '../../schema/test/fixture.ts'
import { jsonGenerator } from '../../schema/test/json-generator.ts'

const { server, connect } = await startServer(t)
const clickhouse = connect(t)
const { PROPERTY_RUNS = '1', PROPERTY_SEED = '57' } = process.env
const cases = Math.ceil(100 * Number(PROPERTY_RUNS))

const describeTable = (table: RawTable) =>
  clickhouse.query<DescribedColumn>(`DESCRIBE TABLE ${rawTables[table].name}`)

/** Executes an insert and returns what a worker sees of the response. */
async function send(query: string, body: Buffer) {
  const { origin, username, password } = new URL(server.url)
  const url = new URL(origin)
  for (const [name, value] of Object.entries({ query, ...insertSettings })) {
    url.searchParams.set(name, String(value))
  }
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: {
      'X-ClickHouse-User': username,
      'X-ClickHouse-Key': decodeURIComponent(password),
    },
  })
  const text = await response.text()
  const summary = JSON.parse(response.headers.get('x-clickhouse-summary') ?? '{}') as object
  return {
    status: response.status,
    code: response.headers.get('x-clickhouse-exception-code'),
    // The beginning of an error's text decides its kind (errors.ts).
    isUnknownField: /^Code: \d+\. DB::Exception: Unknown field found/.test(text),
    writtenRows: (summary as { written_rows?: string }).written_rows,
  }
}

/**
 * Compares both statements, each on a copy of the table that is in memory, because a part for each
 * row would take most of the time. All responses and all columns of all rows must be equal.
 */
async function compare(
  t: Test,
  table: 'logs' | 'feedback' | 'outcomes',
  bodies: readonly Buffer[],
) {
  const { name, columns } = rawTables[table]
  const copies = ['usual', 'ours'].map((one) => `intake.${one}_${table}`)
  for (const copy of copies)
    await clickhouse.command(`CREATE TABLE ${copy} AS ${name} ENGINE = Memory`)
  const [usualCopy = '', ourCopy = ''] = copies
  const usual = `INSERT INTO ${usualCopy} (${columns.join(', ')}) FORMAT JSONEachRow`
  const ours = insertStatement(table, await describeTable(table)).replace(name, ourCopy)
  const seen = new Map<string, number>()
  for (const body of bodies) {
    const [expected, actual] = [await send(usual, body), await send(ours, body)]
    const result = `${expected.status} ${expected.code} ${expected.isUnknownField}`
    seen.set(result, (seen.get(result) ?? 0) + 1)
    if (JSON.stringify(actual) !== JSON.stringify(expected)) {
      t.same(actual, expected, body.toString('latin1').slice(0, 2_000))
    }
  }
  const types = columns.flatMap((column) =>
    ['params', 'extra', 'device_extra'].includes(column)
      ? [`JSONAllPathsWithTypes(${column})`]
      : [],
  )
  const line = `formatRowNoNewline('JSONEachRow', *, ${['0', ...types].join(', ')})`
  const rows = async (from: string) =>
    clickhouse.query(`SELECT count() AS rows, sum(sipHash64(${line})) AS hash FROM ${from}`)
  t.same(await rows(ourCopy), await rows(usualCopy), 'all columns are equal')
  for (const copy of copies) await clickhouse.command(`DROP TABLE ${copy} SYNC`)
  return seen
}

/** Values that the columns of a table take, do not take, or convert. */
const odd: readonly unknown[] = [
  null,
  '',
  'x',
  '0',
  '1.5',
  'true',
  0,
  1,
  -1,
  1.5,
  1e300,
  2 ** 53,
  2 ** 64,
  true,
  [],
  [null],
  ['a', null],
  [1],
  [['a']],
  {},
  { a: null },
  { a: [1, 'x'], 'a.b': 2, 'a%2Eb': 3 },
  'NaN',
  '\0',
  '\\N',
  '2026-02-30',
  '2026-02-28',
  '2026-11-21T03:00:00.123Z',
  '2026-11-21 03:00:00',
  '1969-12-31T23:59:59.999Z',
  '00000000-0000-0000-0000-000000000000',
  'x'.repeat(100_000),
]
/** Texts that `JSON.stringify` never prints. */
const texts: readonly string[] = [
  'NaN',
  'nan',
  '-inf',
  '1e400',
  '01',
  '"\\ud83d"',
  '"\xff"',
  '{"a":1,"a":2}',
  '[1,',
  '{"a":{"b":1},"a.b":[null,[1]]}',
]

const device = [
  'os',
  'battery_level',
  'build_security_patch',
  'build_time',
  'is_emulator',
  'sdk_version',
  'supported_abis',
  'no_field',
]

/** Creates rows: valid ones, and ones in which a column, a field of `device` or a byte is odd. */
function createRows(seed: number, row: () => object, columns: readonly string[]) {
  const json = jsonGenerator(seed)
  let state = seed
  const below = (n: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const pick = <T>(values: readonly T[]) => values[below(values.length)] as T
  const identified = () => ({ ...row(), id: uuidV7(rowTime) }) as Record<string, unknown>
  const print = (value: object) => Buffer.from(`${JSON.stringify(value)}\n`)
  const ways: (() => Buffer)[] = [
    () => print({ ...identified(), params: json.object(), extra: json.object() }),
    () => print({ ...identified(), device_extra: json.object(), sample_rate: Math.random() }),
    () => print({ ...identified(), [pick(columns)]: pick(odd) }),
    () => print({ ...identified(), device: { [pick(device)]: pick(odd), os: 'x' } }),
    () => print({ ...identified(), [pick(columns)]: undefined }),
    () => print({ ...identified(), [pick(['no_column', 'ver', 'is_deleted'])]: pick(odd) }),
    () => {
      const column = pick(columns)
      const text = print({ ...identified(), [column]: '\u0001' }).toString()
      return Buffer.from(text.replace('"\\u0001"', pick(texts)), 'latin1')
    },
    () => {
      const bytes = print(identified())
      bytes.writeUInt8(below(256), below(bytes.length))
      return bytes
    },
    () =>
      Buffer.concat([print(identified()), print({ ...identified(), [pick(columns)]: pick(odd) })]),
  ]
  return Array.from({ length: cases }, () => pick(ways)())
}

for (const [table, row] of [
  ['logs', logRow],
  ['feedback', feedbackRow],
] as const) {
  t.test(`${table}: both statements store the same rows and fail alike`, async (t) => {
    const { columns } = rawTables[table]
    const others = table === 'feedback' ? rawTables.logs.columns : []
    const own = columns.filter((column) => !others.some((other) => other === column))
    const every = own.flatMap((column) =>
      odd.map((value) => Buffer.from(`${JSON.stringify({ ...row(), [column]: value })}\n`)),
    )
    const rows = createRows(Number(PROPERTY_SEED), row, columns)
    const seen = await compare(t, table, [...every, ...rows])
    t.ok((seen.get('200 null false') ?? 0) > 50, 'many rows were stored')
    t.ok(seen.size > 5, `and many failed in different ways: ${[...seen].join('; ')}`)
  })
}

t.test('outcomes: both statements store the same rows and fail alike', async (t) => {
  const report = { minute: '2026-11-23T12:00:00.000Z', api_key_id: 'a', kind: 'logs', code: 'busy' }
  const bodies = ['', ...rawTables.outcomes.columns].flatMap((column) =>
    odd.map((value) => {
      const row = { ...report, run: randomUUID(), records: 3, ...(column && { [column]: value }) }
      return Buffer.from(`${JSON.stringify(row)}\n`)
    }),
  )
  await compare(t, 'outcomes', bodies)
})
