import { isDeepStrictEqual } from 'node:util'
import { migrate } from '@intake/schema'
import { openClickHouse } from '@intake/test-kit/open-clickhouse'
import { ownClickHouse } from '@intake/test-kit/own-services'
import { parseLossless } from '@intake/json'
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import t from 'tap'
import { sendLog, sender, startGateway } from '../support.ts'

const server = await ownClickHouse(t)
const owner = openClickHouse(t, { url: server.url })
await migrate({ clickhouse: owner })
const analyst = openClickHouse(t, { url: server.analystUrl })
const gateway = await startGateway(t)

/** Sends each event by itself. Then stores the rows that the gateway has made, with one insert. */
async function insertTogether(params: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const text of params) {
    const payload = `${JSON.stringify(sender()).slice(0, -1)},"log":{"event":"e","params":${text}}}`
    const response = await sendLog(gateway, payload)
    if (response.statusCode !== 201) throw new Error(`${response.body}: ${text}`)
    ids.push(response.json<{ id: string }>().id)
  }
  const frames = gateway.frames.logs.splice(0)
  const members = frames.map(({ bytes }) => bytes)
  const coding = frames[0]?.coding
  await owner.insertRows({ table: 'logs', coding, members, rows: params.length })
  return ids
}

interface Stored {
  /** The params as `intake.logs` prints them. */
  params: string
  isReadable: 0 | 1
  /** The members that the flat view shows, as read by JSON_VALUE. */
  flat: Record<string, string | null>
}

const names = ['a', 'b', 'c']

/** The maximum number of ids in a query, because ClickHouse limits the length of parameters. */
const idsPerQuery = 200

async function readStored(ids: readonly string[]): Promise<Stored[]> {
  const stored: Stored[] = []
  for (let from = 0; from < ids.length; from += idsPerQuery) {
    stored.push(...(await readSome(ids.slice(from, from + idsPerQuery))))
  }
  return stored
}

async function readSome(ids: readonly string[]): Promise<Stored[]> {
  const rows = await analyst.query<Record<string, string>>(
    `SELECT id, toJSONString(logs.params) AS params, isValidJSON(flat.params) AS valid,
       ${names.map((name) => `JSON_VALUE(flat.params, '$.${name}') AS flat_${name}`).join(', ')}
     FROM intake.logs AS logs JOIN intake.logs_flat AS flat USING id
     WHERE id IN ({ids:Array(UUID)}) ORDER BY indexOf({ids:Array(UUID)}, id)`,
    { ids },
  )
  return rows.map((row) => ({
    params: row['params'] ?? '',
    isReadable: Number(row['valid']) as 0 | 1,
    flat: Object.fromEntries(names.map((name) => [name, row[`flat_${name}`] ?? null])),
  }))
}

const integers = [
  '0',
  '-5',
  '255',
  '9007199254740993',
  '-9007199254740993',
  '7301444403921084417',
  '9223372036854775808',
  '-9223372036854775808',
  '18446744073709551615',
  '18446744073709551616',
  '18446744073709552000',
  '100000000000000000000',
  '-25000000000000000000',
]
const number = fc.oneof(
  fc.constantFrom(...integers, '1.5', '21.5', '0.1', '-1e-300', '2.5e19', '-1e20', '1e21', '1e300'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
)
const anyText = fc.constantFrom(
  '""',
  '"x"',
  '"2026-01-01"',
  '"12345678901234567890"',
  '"\\"[1]\\n"',
)
const scalar = fc.oneof(number, number, anyText, fc.constantFrom('null', 'true', 'false'))
const list = (item: Arbitrary<string>) =>
  fc.array(item, { maxLength: 3 }).map((items) => `[${items.join(',')}]`)
const object = (value: Arbitrary<string>) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...names), value), {
      maxLength: 3,
      selector: ([name]) => name,
    })
    .map((members) => `{${members.map(([name, inner]) => `"${name}":${inner}`).join(',')}}`)
const anyValue = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    list(scalar),
    list(list(scalar)),
    list(tie('any')),
    list(object(tie('any'))),
    object(tie('any')),
  ),
})).any
const params = object(anyValue)

/**
 * Converts a value to a text that can be compared. Removes members that are null or empty objects.
 * An array that is stored as text becomes an array again.
 */
function canonical(json: unknown): string {
  return JSON.stringify(reduce(json), (_, inner: unknown) =>
    typeof inner === 'bigint' ? `integer ${inner}` : inner,
  )
}

function reduce(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(reduce)
  if (typeof json === 'string' && json.startsWith('[')) return reduce(parseLossless(json))
  if (json === 0) return 0
  if (typeof json !== 'object' || json === null) return json
  const members = Object.entries(json).map(([name, inner]) => [name, reduce(inner)] as const)
  return Object.fromEntries(
    members
      .filter(([, inner]) => inner !== null && !isEmptyObject(inner))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}

const isEmptyObject = (json: unknown) =>
  typeof json === 'object' && !Array.isArray(json) && Object.keys(json ?? {}).length === 0

type Scalar = string | number | bigint | boolean

/**
 * Returns the scalar members that the flat view must show, by name. A double can be printed in
 * several ways, so any text in `flat` with the same value counts as right.
 */
function flatValues(value: Record<string, unknown>, flat: Stored['flat']): Stored['flat'] {
  const scalars = names.flatMap((name) => {
    const own = (value[name] ?? null) as Scalar | object | null
    if (typeof own === 'object') return []
    const isSame = typeof own === 'number' && Number(flat[name]) === own
    return [[name, isSame ? (flat[name] ?? null) : String(own)] as const]
  })
  return Object.fromEntries(scalars)
}

t.test('params are read as they were sent, alone, with others and after merges', async (t) => {
  const { PROPERTY_RUNS = '1', PROPERTY_SEED } = process.env
  const seed = Number(PROPERTY_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const groups = fc.sample(fc.array(params, { minLength: 2, maxLength: 3 }), {
    seed,
    numRuns: Math.ceil(30 * Number(PROPERTY_RUNS)),
  })
  const sent = groups.flat()
  const together: string[] = []
  for (const group of groups) together.push(...(await insertTogether(group)))
  const alone: string[] = []
  for (const one of sent) alone.push(...(await insertTogether([one])))
  const stored = await readStored([...together, ...alone])
  await owner.command('OPTIMIZE TABLE intake.logs_raw FINAL')
  const merged = await readStored([...together, ...alone])

  const printed = (rows: readonly Stored[]) => rows.map((row) => row.params)
  t.same(printed(merged), printed(stored), 'after merges')
  t.same(printed(stored.slice(0, sent.length)), printed(stored.slice(sent.length)), 'as alone')
  for (const [n, text] of sent.entries()) {
    const one = stored[n] as Stored
    const value = parseLossless(text) as Record<string, unknown>
    const actual = { ...one, params: canonical(parseLossless(one.params)) }
    const flat = { ...one.flat, ...flatValues(value, one.flat) }
    const expected: Stored = { params: canonical(value), isReadable: 1, flat }
    if (!isDeepStrictEqual(actual, expected)) t.same(actual, expected, text)
  }
  t.comment(`${sent.length} params in ${groups.length} groups, seed ${seed}`)
})
