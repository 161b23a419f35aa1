import { lookups } from '../queries/cookbook.ts'
import type { InsertCost } from '../queries/insert-cost.ts'
import type { Measured, MeasuredQuery } from '../queries/measure.ts'
import { number, range } from '../report/format.ts'
import type { Check, Table } from './suite.ts'

const lookupShareMax = 0.01
const lookupSecondsMax = 0.1
const countSecondsMax = 0.2
const dailyDevicesSecondsMax = 0.3
const querySecondsMax = 3

const notAsked: Omit<MeasuredQuery, 'name'> = {
  milliseconds: NaN,
  cpuMilliseconds: NaN,
  rows: NaN,
  bytes: NaN,
}
const of = (measured: Measured, name: string): MeasuredQuery =>
  measured.queries.find((query) => query.name === name) ?? { name, ...notAsked }
const milliseconds = (value: number) => number(value, value < 10 ? 1 : 0)

export function queryTable(measured: Measured): Table {
  return {
    title: 'Time, rows read and bytes read',
    head: ['query', 'ms', 'ms of CPU', 'rows read, %', 'MB read'],
    rows: measured.queries.map(({ name, cpuMilliseconds, rows, bytes, ...query }) => [
      name,
      milliseconds(query.milliseconds),
      milliseconds(cpuMilliseconds),
      number((rows / measured.rows) * 100, 2),
      number(bytes / 1e6),
    ]),
    note: 'The last five are lookups without application or period.',
  }
}

export function storageTable({ storage }: Measured): Table {
  return {
    title: 'On disk, after loading',
    head: ['what', 'value'],
    rows: [
      ['bytes per row', number(storage.bytesPerRow, 1)],
      ['of which skip indexes', number(storage.indexBytesPerRow, 1)],
      ['parts', number(storage.parts)],
      ['rows written by merges per row inserted', number(storage.rewrites, 1)],
    ],
  }
}

export function insertTable(costs: readonly InsertCost[]): Table {
  return {
    title: 'Inserts of 5,000 rows: microseconds of ClickHouse per row',
    head: ['insert', 'with merges'],
    rows: [
      [
        range(
          costs.map(({ insert }) => insert),
          1,
        ),
        range(
          costs.map(({ withMerges }) => withMerges),
          1,
        ),
      ],
    ],
  }
}

export function judge(measured: Measured): Check[] {
  const limit = (what: string, query: MeasuredQuery, secondsMax: number): Check => ({
    item: '9',
    what,
    measured: `${number(query.milliseconds / 1_000, 3)} s`,
    limit: `≤ ${secondsMax} s`,
    met: query.milliseconds <= secondsMax * 1_000,
  })
  const slowest = measured.queries
    .filter(({ name }) => !lookups.some((lookup) => lookup.name === name))
    .reduce((worst, query) => (query.milliseconds > worst.milliseconds ? query : worst))
  return [
    ...lookups.flatMap(({ name }) => {
      const query = of(measured, name)
      const share = query.rows / measured.rows
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
    limit('`count()` of everything', of(measured, 'count of everything'), countSecondsMax),
    limit(
      'Active devices per day, one application, 30 days',
      of(measured, 'Active devices'),
      dailyDevicesSecondsMax,
    ),
    limit(`Slowest query of the cookbook (${slowest.name})`, slowest, querySecondsMax),
  ]
}
