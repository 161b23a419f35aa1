import { selectInTurns } from '@intake/clickhouse'
import type { CountReader } from './count-reader.ts'
import { cutName, inMonth, newestOf, ofApplication, type RecordReader } from './records.ts'
import { inWindow, seriesOf, stepOf, windowParams, type Steps, type TimeWindow } from './period.ts'

/** When the hours or the catalogue were last counted, in ms since 1970; undefined if never. */
export async function readCountedAt(
  reader: RecordReader,
  name: 'hours' | 'catalogue' = 'hours',
): Promise<number | undefined> {
  const [row] = await reader.query<{ atMs: number }>(
    `SELECT toUnixTimestamp64Milli(counted_at) AS atMs FROM intake.counted WHERE name = {name:String}`,
    { name },
  )
  return row?.atMs
}

const hoursIn = (window: TimeWindow, application: string | undefined) => ({
  where: `${inWindow('hour')} AND ${ofApplication(application)}`,
  params: { ...windowParams(window), application },
})

export interface ApplicationCounts {
  bundle_identifier: string
  events: number
  devices: number
  feedback: number
  newest_version: string
  /** The last event, in ms since 1970, or the beginning of its hour if stored counts were read. */
  lastMs: number
  series: number[]
}

export const applicationsMax = 50

/** Reads those that sent an event in 30 days: of each owner, those with most in the period. */
export async function readApplications(
  reader: CountReader,
  steps: Steps,
): Promise<ApplicationCounts[]> {
  const order = 'events DESC, bundle_identifier'
  const shown = selectInTurns(
    `SELECT bundle_identifier, sumIf(hours.events, hour >= toDateTime({first:UInt32})) AS events
     FROM ${reader.hours} AS hours WHERE ${inMonth} GROUP BY bundle_identifier`,
    { application: reader.owner, order, rowsMax: applicationsMax },
  )
  const rows = await reader.query<
    Omit<ApplicationCounts, 'devices' | 'feedback' | 'series'> & { counts: [number, number][] }
  >(
    `SELECT bundle_identifier, sumIf(number, at >= {first:UInt32}) AS events,
       ${newestOf('groupUniqArrayArray(versions)')} AS newest_version,
       1000 * max(latest) AS lastMs, groupArrayIf(CAST((at, number), 'Tuple(UInt32, UInt64)'), at >= {first:UInt32}) AS counts
     FROM (
       SELECT bundle_identifier, ${stepOf('hour', steps)} AS at, sum(events) AS number,
         toUnixTimestamp(max(hour)) AS latest, groupUniqArray((version_code, version_name)) AS versions
       FROM ${reader.hours} WHERE ${inMonth} AND bundle_identifier IN (SELECT bundle_identifier FROM (${shown}))
       GROUP BY bundle_identifier, at)
     GROUP BY bundle_identifier ORDER BY ${order}`,
    { first: steps.from / 1_000 },
  )
  const applications = rows.map(({ bundle_identifier }) => bundle_identifier)
  const countOf = async (sql: string) => {
    const counts = await reader.query<{ name: string; count: number }>(
      `SELECT bundle_identifier AS name, ${sql} AND bundle_identifier IN {applications:Array(String)}
       GROUP BY name`,
      { ...windowParams(steps), applications },
    )
    return new Map(counts.map(({ name, count }) => [name, count]))
  }
  const [devices, feedback] = await Promise.all([
    countOf(`${reader.devices} AS count FROM ${reader.deviceHours} WHERE ${inWindow('hour')}`),
    countOf(`count() AS count FROM intake.feedback WHERE ${inWindow('time')}`),
  ])
  return rows.map(({ counts, ...row }) => ({
    ...row,
    devices: devices.get(row.bundle_identifier) ?? 0,
    feedback: feedback.get(row.bundle_identifier) ?? 0,
    series: seriesOf(counts, steps),
  }))
}

interface Total {
  total: number
  /** The same without the last step, which is not over. */
  complete: number
  series: readonly number[]
}
export type Totals = Record<'events' | 'devices' | 'feedback', Total>

/** Counts in the whole period and in each of its steps; a device may be active in several. */
export async function readTotals(
  reader: CountReader,
  steps: Steps,
  application: string | undefined,
): Promise<Totals> {
  const countOf = (name: keyof Totals, count: string, source: string, column: 'hour' | 'time') =>
    `SELECT '${name}' AS name, ${stepOf(column, steps)} AS at, 1 + (at >= {last:UInt32}) AS part, toUInt64(${count}) AS number
     FROM ${source} WHERE ${inWindow(column)} AND ${ofApplication(application)} GROUP BY GROUPING SETS ((), (part), (at))`
  const rows = await reader.query<{ name: string; at: number; part: number; number: number }>(
    [
      countOf('events', 'sum(events)', reader.hours, 'hour'),
      countOf('devices', reader.devices, reader.deviceHours, 'hour'),
      countOf('feedback', 'count()', 'intake.feedback', 'time'),
    ].join(' UNION ALL '),
    { ...windowParams(steps), application, last: (steps.to - steps.stepMs) / 1_000 },
  )
  const totalOf = (name: keyof Totals): Total => {
    const own = rows.filter((row) => row.name === name)
    // The row of the whole period has the time and part 0, that of the complete steps the part 1.
    const numbers = new Map(own.map(({ at, part, number }) => [at + part, number]))
    const [total = 0, complete = 0] = [numbers.get(0), numbers.get(1)]
    return { total, complete, series: seriesOf(numbers, steps) }
  }
  return { events: totalOf('events'), devices: totalOf('devices'), feedback: totalOf('feedback') }
}

export interface NameCount {
  name: string
  count: number
}

export interface TopEvent extends NameCount {
  /** The number of all events in the period, not only of those with this name. */
  total: number
}

/** @param names a regular expression: only such events are counted, also in `total` */
export function readTopEvents(
  reader: CountReader,
  window: TimeWindow,
  application?: string,
  names = '',
): Promise<TopEvent[]> {
  const { where, params } = hoursIn(window, application)
  return reader.query<TopEvent>(
    `SELECT ${cutName('event')} AS name, sum(events) AS count, sum(sum(events)) OVER () AS total
     FROM ${reader.hours} WHERE ${where} AND match(event, {names:String})
     GROUP BY name ORDER BY count DESC, name LIMIT 10`,
    { ...params, names },
  )
}

/** @param names limits the result to these versions */
export function readVersions(
  reader: CountReader,
  window: TimeWindow,
  application?: string,
  names?: readonly string[],
): Promise<NameCount[]> {
  const { where, params } = hoursIn(window, application)
  return reader.query<NameCount>(
    `SELECT ${cutName('version_name')} AS name, ${reader.devices} AS count FROM ${reader.deviceHours}
     WHERE ${where} ${names === undefined ? '' : 'AND version_name IN {names:Array(String)}'}
     GROUP BY name ORDER BY count DESC, name LIMIT 8`,
    { ...params, names },
  )
}

export const versionsMax = 100

export async function readVersionSteps(
  reader: CountReader,
  steps: Steps,
  application: string,
): Promise<{ at: number; version: string; events: number }[]> {
  const { where, params } = hoursIn(steps, application)
  const rows = await reader.query<{ version: string; counts: [number, number][] }>(
    `SELECT version, groupArray(CAST((at, number), 'Tuple(UInt32, UInt64)')) AS counts FROM (
       SELECT ${cutName('version_name')} AS version, ${stepOf('hour', steps)} AS at, sum(events) AS number
       FROM ${reader.hours} WHERE ${where} GROUP BY version, at)
     GROUP BY version ORDER BY sum(number) DESC, version LIMIT ${versionsMax}`,
    params,
  )
  return rows.flatMap(({ version, counts }) =>
    counts.map(([at, events]) => ({ at: at * 1_000, version, events })),
  )
}
