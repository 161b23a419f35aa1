import { lookups } from '../queries/cookbook.ts'
import type { InsertCost } from '../queries/insert-cost.ts'
import type { Measured, MeasuredQuery } from '../queries/measure.ts'
import type { Tables } from '../queries/server.ts'
import { number, range, ratio, ratioRange } from '../report/format.ts'
import { median } from '../statistics.ts'
import type { Check, Table } from './suite.ts'

const lookupShareMax = 0.01
const lookupSecondsMax = 0.1
const countSecondsMax = 0.2
const dailyDevicesSecondsMax = 0.3
const querySecondsMax = 3
const insertRatioMax = 1.15

export type BeforeAndAfter = Record<Tables, Measured>

const notAsked: Omit<MeasuredQuery, 'name'> = {
  milliseconds: NaN,
  cpuMilliseconds: NaN,
  rows: NaN,
  bytes: NaN,
}
const of = (measured: Measured, name: string): MeasuredQuery =>
  measured.queries.find((query) => query.name === name) ?? { name, ...notAsked }
const milliseconds = (value: number) => number(value, value < 10 ? 1 : 0)

export function queryTable({ before, after }: BeforeAndAfter): Table {
  const percent = (measured: Measured, name: string) =>
    number((of(measured, name).rows / measured.rows) * 100, 2)
  const megabytes = (measured: Measured, name: string) => number(of(measured, name).bytes / 1e6)
  return {
    title: 'Time, rows read and bytes read, before and after',
    head: [
      'query',
      'ms',
      'after',
      'ms of CPU',
      'after',
      '×',
      'rows read, %',
      'after',
      'MB read',
      'after',
    ],
    rows: after.queries.map(({ name }) => [
      name,
      milliseconds(of(before, name).milliseconds),
      milliseconds(of(after, name).milliseconds),
      milliseconds(of(before, name).cpuMilliseconds),
      milliseconds(of(after, name).cpuMilliseconds),
      ratio(of(after, name).cpuMilliseconds / of(before, name).cpuMilliseconds),
      percent(before, name),
      percent(after, name),
      megabytes(before, name),
      megabytes(after, name),
    ]),
    note: 'The ratio is that of the CPU. The last five are lookups without application or period.',
  }
}

export function storageTable({ before, after }: BeforeAndAfter): Table {
  const row = (what: string, value: (measured: Measured) => string) => [
    what,
    value(before),
    value(after),
  ]
  return {
    title: 'On disk, after loading',
    head: ['what', 'before', 'after'],
    rows: [
      row('bytes per row', ({ storage }) => number(storage.bytesPerRow, 1)),
      row('of which skip indexes', ({ storage }) => number(storage.indexBytesPerRow, 1)),
      row('parts', ({ storage }) => number(storage.parts)),
      row('rows written by merges per row inserted', ({ storage }) => number(storage.rewrites, 1)),
    ],
  }
}

export function insertTable(costs: readonly InsertCost[]): Table {
  const row = (tables: Tables) => {
    const mine = costs.filter((cost) => cost.tables === tables)
    return [
      tables,
      range(
        mine.map(({ insert }) => insert),
        1,
      ),
      range(
        mine.map(({ withMerges }) => withMerges),
        1,
      ),
    ]
  }
  return {
    title: 'Inserts of 5,000 rows: microseconds of ClickHouse per row',
    head: ['tables', 'insert', 'with merges'],
    rows: [row('before'), row('after')],
  }
}

export function judge({ after }: BeforeAndAfter, inserts: readonly InsertCost[]): Check[] {
  const limit = (what: string, query: MeasuredQuery, secondsMax: number): Check => ({
    item: '9',
    what,
    measured: `${number(query.milliseconds / 1_000, 3)} s`,
    limit: `≤ ${secondsMax} s`,
    met: query.milliseconds <= secondsMax * 1_000,
  })
  const slowest = after.queries
    .filter(({ name }) => !lookups.some((lookup) => lookup.name === name))
    .reduce((worst, query) => (query.milliseconds > worst.milliseconds ? query : worst))
  return [
    ...lookups.flatMap(({ name }) => {
      const query = of(after, name)
      const share = query.rows / after.rows
      return [
        limit(`Lookup ${name}: time`, query, lookupSecondsMax),
        {
          item: '9',
          what: `Lookup ${name}: rows read`,
          measured: `${number(share * 100, 2)} %`,
          limit: `≤ ${lookupShareMax * 100} %`,
          met: share <= lookupShareMax,
        },
      ]
    }),
    limit('`count()` of everything', of(after, 'count of everything'), countSecondsMax),
    limit(
      'Active devices per day, one application, 30 days',
      of(after, 'Active devices'),
      dailyDevicesSecondsMax,
    ),
    limit(`Slowest query of the cookbook (${slowest.name})`, slowest, querySecondsMax),
    insertCheck(inserts),
  ]
}

function insertCheck(costs: readonly InsertCost[]): Check {
  const cpu = (tables: Tables) =>
    costs.filter((cost) => cost.tables === tables).map(({ insert }) => insert)
  const [before, after] = [cpu('before'), cpu('after')]
  const ratios = after.map((cost, turn) => cost / (before[turn] as number))
  return {
    item: '9',
    what: 'ClickHouse CPU per row in inserts of 5,000 rows, after ÷ before',
    measured: ratioRange(ratios),
    limit: `≤ ${ratio(insertRatioMax)}`,
    met: median(ratios) <= insertRatioMax,
  }
}
