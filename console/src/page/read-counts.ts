import { isoTime } from '@intake/clickhouse'
import { badNames } from './bad-events.ts'
import type { CountReader } from './count-reader.ts'
import { cutName, querySettings, type RecordReader } from './records.ts'
import { inWindow, seriesOf, stepOf, windowParams, type Steps } from './period.ts'
import type { TimeWindow } from './read-in-windows.ts'

/** When the hours or the catalogue were last counted, in ms since 1970; undefined if never. */
export async function readCountedAt(
  reader: RecordReader,
  name: 'hours' | 'catalogue' = 'hours',
): Promise<number | undefined> {
  const [row] = await reader.query<{ at: string }>(
    `SELECT counted_at AS at FROM intake.counted WHERE name = {name:String} ${querySettings}`,
    { name },
  )
  return row && Date.parse(isoTime(row.at))
}

const period = inWindow('hour')
const ofApplication = 'bundle_identifier = {application:String}'

export interface ApplicationCounts {
  bundle_identifier: string
  events: number
  devices: number
  newest_version: string
  /**
   * The time of the last event, in ms since 1970. If stored counts were read, the beginning of its
   * hour.
   */
  lastMs: number
  /** The number of events in each step. */
  series: number[]
}

export const applicationsMax = 50

/**
 * Reads the applications that sent an event in the last 30 days, at most `applicationsMax`.
 * Applications with more events in the period come first.
 */
export async function readApplications(
  reader: CountReader,
  steps: Steps,
): Promise<ApplicationCounts[]> {
  const rows = await reader.query<
    Omit<ApplicationCounts, 'devices' | 'lastMs' | 'series'> & {
      last: number
      counts: [number, number][]
    }
  >(
    `SELECT bundle_identifier, sumIf(number, at >= {first:UInt32}) AS events,
       ${cutName('argMax(version, (code, latest))')} AS newest_version,
       max(latest) AS last, groupArrayIf(CAST((at, number), 'Tuple(UInt32, UInt64)'), at >= {first:UInt32}) AS counts
     FROM (
       SELECT bundle_identifier, ${stepOf('hour', steps)} AS at, sum(events) AS number,
         toUnixTimestamp(max(hour)) AS latest, max(ifNull(version_code, 0)) AS code,
         argMax(version_name, ifNull(version_code, 0)) AS version
       FROM ${reader.hours} WHERE hour >= now('UTC') - INTERVAL 30 DAY
       GROUP BY bundle_identifier, at)
     GROUP BY bundle_identifier ORDER BY events DESC, bundle_identifier LIMIT ${applicationsMax} ${querySettings}`,
    { first: steps.from / 1_000 },
  )
  const devices = await reader.query<{ bundle_identifier: string; devices: number }>(
    `SELECT bundle_identifier, ${reader.devices} AS devices
     FROM ${reader.deviceHours}
     WHERE ${period} AND bundle_identifier IN {applications:Array(String)}
     GROUP BY bundle_identifier ${querySettings}`,
    {
      ...windowParams(steps),
      applications: rows.map(({ bundle_identifier }) => bundle_identifier),
    },
  )
  const devicesOf = new Map(devices.map((row) => [row.bundle_identifier, row.devices]))
  return rows.map(({ counts, last, ...row }) => ({
    ...row,
    devices: devicesOf.get(row.bundle_identifier) ?? 0,
    lastMs: last * 1_000,
    series: seriesOf(counts, steps),
  }))
}

export interface NameCount {
  name: string
  count: number
}

export interface TopEvent extends NameCount {
  /** The number of all events in the period, not only those with this name. */
  total: number
}

/** Reads the ten most frequent event names and their counts, in one application or in all. */
export const readTopEvents = (
  reader: CountReader,
  window: TimeWindow,
  application?: string,
): Promise<TopEvent[]> =>
  reader.query<TopEvent>(
    `SELECT ${cutName('event')} AS name, sum(events) AS count, sum(sum(events)) OVER () AS total FROM ${reader.hours}
     WHERE ${period} ${application === undefined ? '' : `AND ${ofApplication}`}
     GROUP BY name ORDER BY count DESC, name LIMIT 10 ${querySettings}`,
    { ...windowParams(window), ...(application !== undefined && { application }) },
  )

/**
 * Counts the devices of the eight versions with most devices, in one application or in all.
 *
 * @param names limits the result to these versions
 */
export const readVersions = (
  reader: CountReader,
  window: TimeWindow,
  application?: string,
  names?: readonly string[],
): Promise<NameCount[]> =>
  reader.query<NameCount>(
    `SELECT ${cutName('version_name')} AS name, ${reader.devices} AS count FROM ${reader.deviceHours}
     WHERE ${period} ${application === undefined ? '' : `AND ${ofApplication}`}
       ${names === undefined ? '' : 'AND version_name IN {names:Array(String)}'}
     GROUP BY name ORDER BY count DESC, name LIMIT 8 ${querySettings}`,
    {
      ...windowParams(window),
      ...(application !== undefined && { application }),
      ...(names !== undefined && { names }),
    },
  )

/** Counts the events of one application or of all. */
export async function countEventsIn(
  reader: CountReader,
  window: TimeWindow,
  application?: string,
): Promise<number> {
  const [row] = await reader.query<{ events: number }>(
    `SELECT sum(events) AS events FROM ${reader.hours}
     WHERE ${period} ${application === undefined ? '' : `AND ${ofApplication}`} ${querySettings}`,
    { ...windowParams(window), ...(application !== undefined && { application }) },
  )
  return row?.events ?? 0
}

/** Reads the most frequent events of an application whose names say that something went wrong. */
export const readErrors = (
  reader: CountReader,
  window: TimeWindow,
  application: string,
): Promise<TopEvent[]> =>
  reader.query<TopEvent>(
    `SELECT ${cutName('event')} AS name, sum(events) AS count, sum(sum(events)) OVER () AS total
     FROM ${reader.hours}
     WHERE ${period} AND ${ofApplication} AND match(event, {names:String})
     GROUP BY name ORDER BY count DESC, name LIMIT 8 ${querySettings}`,
    { ...windowParams(window), application, names: badNames },
  )

export async function countDevices(
  reader: CountReader,
  window: TimeWindow,
  application?: string,
): Promise<number> {
  const [row] = await reader.query<{ devices: number }>(
    `SELECT ${reader.devices} AS devices FROM ${reader.deviceHours}
     WHERE ${period} ${application === undefined ? '' : `AND ${ofApplication}`} ${querySettings}`,
    { ...windowParams(window), ...(application !== undefined && { application }) },
  )
  return row?.devices ?? 0
}

export const versionsMax = 100

/**
 * Reads how many events each version of an application sent in each step. The result has at most
 * `versionsMax` versions: those that sent most.
 */
export async function readVersionSteps(
  reader: CountReader,
  steps: Steps,
  application: string,
): Promise<{ at: number; version: string; events: number }[]> {
  const rows = await reader.query<{ version: string; counts: [number, number][] }>(
    `SELECT version, groupArray(CAST((at, number), 'Tuple(UInt32, UInt64)')) AS counts FROM (
       SELECT ${cutName('version_name')} AS version, ${stepOf('hour', steps)} AS at, sum(events) AS number
       FROM ${reader.hours} WHERE ${period} AND ${ofApplication} GROUP BY version, at)
     GROUP BY version ORDER BY sum(number) DESC, version LIMIT ${versionsMax} ${querySettings}`,
    { ...windowParams(steps), application },
  )
  return rows.flatMap(({ version, counts }) =>
    counts.map(([at, events]) => ({ at: at * 1_000, version, events })),
  )
}
