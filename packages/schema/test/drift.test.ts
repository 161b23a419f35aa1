import { limits } from '@intake/contract'
import t from 'tap'
import { insertRows, startServer } from './fixture.ts'

const { connect } = await startServer(t)
const clickhouse = connect(t)

interface Entry {
  event: string
  param: string
  type: string
  version_code: number | null
  version_name: string
}

/** Numbers that look random, the same in every run. */
let state = 1
const below = (limit: number) => (state = (state * 48_271) % 2_147_483_647) % limit
const pick = <T>(of: readonly T[]): T => of[below(of.length)]!

const names = ['1.9', '1.10', '1.10.0', '2.0.0-beta.2', '2.0.0-beta.10', '2.0.0', 'x', '2', '']

/**
 * A day of an application. `codes` of ten entries have a version code. One day in six was cut, and
 * has more names than are counted or an entry for the others.
 */
function makeDay(codes: number): Entry[] {
  const entries = Array.from({ length: below(120) }, () => ({
    event: pick(['open', 'pay', 'share', 'rare']),
    param: pick(['', '', 'amount', 'to', 'a%2Eb']),
    type: pick(['number', 'text', 'list']),
    version_code: below(10) < codes ? 8 + below(4) : null,
    version_name: pick(names),
  }))
  const cut = pick([0, 0, 0, 0, 1, limits.catalogueEntries])
  const one = { event: '', param: '', type: 'event', version_code: 99, version_name: '9' }
  const others = Array.from({ length: cut }, (_, n) => ({
    ...one,
    event: cut === 1 ? '' : `e${n}`,
  }))
  return [...entries, ...others]
}

const isWhole = (day: readonly Entry[]) =>
  day.length < limits.catalogueEntries && day.every(({ event }) => event !== '')

const numbersIn = (text: string) => Array.from(text.matchAll(/\d+/g), Number)

/** The order of versions, as a text for each. */
function orderOf({ version_code, version_name }: Entry): string {
  const digits = (numbers: number[]) =>
    numbers.map((number) => `${String(number).padStart(9, '0')},`).join('')
  if (version_code !== null) return `${digits([version_code])} 1`
  const [release = ''] = version_name.split('-')
  const isRelease = Number(!version_name.includes('-'))
  return [
    digits(numbersIn(release)),
    isRelease,
    digits(numbersIn(version_name)),
    version_name,
  ].join(' ')
}

/** What intake.drift shows, computed without SQL. */
function driftOf(bundle_identifier: string, days: readonly Entry[][]) {
  const hasCodes = days.flat().some(({ version_code }) => version_code !== null)
  const entries = days
    .filter((day) => isWhole(day))
    .flat()
    .filter(({ version_code, version_name }) =>
      hasCodes ? version_code !== null : version_name !== '',
    )
  const versions = new Map(
    entries
      .map((entry) => [orderOf(entry), String(entry.version_code ?? entry.version_name)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
  const orders = [...versions.keys()]
  const typesOf = (order: string | undefined, event: string, param: string) => {
    const those = entries.filter(
      (one) => orderOf(one) === order && one.event === event && one.param === param,
    )
    return [...new Set(those.map(({ type }) => type))].toSorted().join(', ')
  }
  const keys = new Map(entries.map(({ event, param }) => [`${event}|${param}`, { event, param }]))
  return [...keys.values()].flatMap(({ event, param }) =>
    orders.slice(1).flatMap((to, index) => {
      const from = orders[index]
      const [before, after] = [typesOf(from, event, param), typesOf(to, event, param)]
      const hasEvent = [from, to].every((order) => typesOf(order, event, '') !== '')
      if (before === after || !(param === '' || hasEvent)) return []
      const change = before === '' ? 'new' : after === '' ? 'gone' : 'type'
      return {
        bundle_identifier,
        version_from: versions.get(from ?? ''),
        version_to: versions.get(to),
        versions_ago: orders.length - index - 2,
        event,
        param,
        change,
        before,
        after,
      }
    }),
  )
}

const inOneOrder = (rows: object[]) => rows.map((row) => JSON.stringify(row)).toSorted()

t.test('drift is what generated days say, for all applications and for one', async (t) => {
  const fleet = Array.from({ length: 24 }, (_, number) => ({
    bundle_identifier: `com.example.app${number}`,
    days: Array.from({ length: number % 8 }, () => makeDay(pick([0, 0, 1, 10]))),
  }))
  const row = (bundle_identifier: string, entries: Entry[], index: number, ver: number) => ({
    bundle_identifier,
    day: `2026-1${index % 2}-0${1 + index}`,
    entries: entries.map((entry) => ({
      ...entry,
      first_seen: '2026-11-01T00:00:00.000Z',
      last_seen: '2026-11-01T00:00:00.000Z',
      records: 1,
      devices: 1,
    })),
    ver,
  })
  // Each day was counted before, with other entries.
  for (const ver of [1, 2]) {
    const rows = fleet.flatMap(({ bundle_identifier, days }) =>
      days.map((day, index) => row(bundle_identifier, ver === 1 ? makeDay(10) : day, index, ver)),
    )
    await insertRows(clickhouse, 'days', rows)
  }
  const expected = fleet.flatMap(({ bundle_identifier, days }) => driftOf(bundle_identifier, days))
  t.ok(expected.length > 100)
  for (const change of ['new', 'gone', 'type'])
    t.ok(
      expected.some((one) => one.change === change),
      change,
    )
  t.same(inOneOrder(await clickhouse.query('SELECT * FROM intake.drift')), inOneOrder(expected))
  for (const { bundle_identifier } of fleet) {
    t.same(
      inOneOrder(
        await clickhouse.query('SELECT * FROM intake.drift WHERE bundle_identifier = {it:String}', {
          it: bundle_identifier,
        }),
      ),
      inOneOrder(expected.filter((one) => one.bundle_identifier === bundle_identifier)),
    )
  }
})

t.test('many versions and many params need no memory for each pair of them', async (t) => {
  const seen = '2026-11-01T00:00:00.000Z'
  const bundle_identifier = 'com.example.invented'
  const entry = (number: number, isParam: boolean) => ({
    event: 'a',
    param: isParam ? `p${number}` : '',
    type: isParam ? 'number' : 'event',
    version_code: isParam ? 1 : number + 1,
    version_name: '',
    first_seen: seen,
    last_seen: seen,
    records: 1,
    devices: 1,
  })
  const rows = [0, 1, 2, 3].map((day) => ({
    bundle_identifier,
    day: `2026-09-0${1 + day}`,
    entries: Array.from({ length: 4_000 }, (_, n) => entry(day * 2_000 + (n >> 1), n % 2 === 0)),
    ver: 1,
  }))
  await insertRows(clickhouse, 'days', rows)
  const [found] = await clickhouse.query<{ rows: number }>(
    `SELECT count() AS rows FROM intake.drift WHERE bundle_identifier = {it:String}
     SETTINGS max_memory_usage = 268435456`,
    { it: bundle_identifier },
  )
  t.equal(found?.rows, 8_000, 'all params are gone in the second version')
})

t.test('drift reads each entry once', async (t) => {
  const plan = async (where: string) => {
    const rows = await clickhouse.query<{ explain: string }>(
      `EXPLAIN SELECT * FROM intake.drift WHERE ${where}`,
    )
    return rows.map(({ explain }) => explain).join('\n')
  }
  const scans = (await plan('1')).match(/ReadFromMergeTree/g) ?? []
  t.equal(scans.length, 2, 'the entries, and which applications have codes')
})
