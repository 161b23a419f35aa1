import type { OverviewData } from './overview.ts'
import { inWindow, seriesOf, stepOf, windowParams, type Steps } from './period.ts'
import {
  applicationsMax,
  type ApplicationCounts,
  type NameCount,
  type TopEvent,
} from './read-counts.ts'
import { cutName, querySettings, type RecordReader } from './records.ts'

export interface RecentCounts {
  applications: Pick<ApplicationCounts, 'bundle_identifier' | 'events' | 'devices' | 'series'>[]
  topEvents: TopEvent[]
  versions: NameCount[]
  devices: number
}

/**
 * Reads the counts of the overview for a period with steps of less than an hour. Workers count only
 * whole hours, so these counts are made from the records themselves. The period must be short,
 * because otherwise too many records are read.
 */
export async function readRecentCounts(reader: RecordReader, steps: Steps): Promise<RecentCounts> {
  const read = <Row>(columns: string, rest = '') =>
    reader.query<Row>(
      `SELECT ${columns} FROM intake.logs
       WHERE ${inWindow('time')} ${rest} ${querySettings}`,
      windowParams(steps),
    )
  const devices = 'uniqCombined64(12)(device_uuid)'
  type Application = Omit<RecentCounts['applications'][number], 'series'> & {
    counts: [at: number[], events: number[]]
  }
  const [applications, topEvents, versions, all] = await Promise.all([
    read<Application>(
      `bundle_identifier, count() AS events, ${devices} AS devices,
       sumMap([${stepOf('time', steps)}], [toUInt64(1)]) AS counts`,
      `GROUP BY bundle_identifier ORDER BY events DESC, bundle_identifier LIMIT ${applicationsMax}`,
    ),
    read<TopEvent>(
      'event AS name, count() AS count, sum(count()) OVER () AS total',
      'GROUP BY event ORDER BY count DESC, event LIMIT 10',
    ),
    read<NameCount>(
      `${cutName("ifNull(device.version_name, '')")} AS name, ${devices} AS count`,
      'GROUP BY name ORDER BY count DESC, name LIMIT 8',
    ),
    read<{ devices: number }>(`${devices} AS devices`),
  ])
  return {
    applications: applications.map(({ counts: [at, events], ...row }) => ({
      ...row,
      series: seriesOf(
        at.map((start, index) => [start, events[index] ?? 0]),
        steps,
      ),
    })),
    topEvents,
    versions,
    devices: all[0]?.devices ?? 0,
  }
}

/** Replaces the hourly counts in `data`, which lack a part of the period, with recent counts. */
export function withRecentCounts(
  data: OverviewData,
  { applications, ...recent }: RecentCounts,
  nowMs: number,
): OverviewData {
  const known = new Map(data.applications.map((one) => [one.bundle_identifier, one]))
  const active = new Set(applications.map((one) => one.bundle_identifier))
  const absent = { newest_version: '', lastMs: nowMs }
  return {
    ...data,
    ...recent,
    applications: [
      ...applications.map((one) => ({ ...absent, ...known.get(one.bundle_identifier), ...one })),
      ...data.applications
        .filter((one) => !active.has(one.bundle_identifier))
        .map((one) => ({ ...one, events: 0, devices: 0, series: one.series.map(() => 0) })),
    ],
    countedAtMs: nowMs,
  }
}
