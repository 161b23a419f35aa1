import { sqlTime } from '@intake/clickhouse'
import { listRecords } from './list-records.ts'
import type { Steps } from './period.ts'
import {
  countDevices,
  readApplications,
  readCountedAt,
  readTopEvents,
  readVersions,
  type ApplicationCounts,
  type NameCount,
  type TopEvent,
} from './read-counts.ts'
import { readArrivals, readKeyOutcomes, type Arrivals, type KeyOutcome } from './read-outcomes.ts'
import { querySettings, type FeedbackSummary, type RecordReader } from './records.ts'

/** The data of the overview. It consists of counts, so no log event is read for it. */
export interface OverviewData {
  steps: Steps
  arrivals: Arrivals[]
  refusals: KeyOutcome[]
  /** Names of API keys by their ids. */
  names: ReadonlyMap<string, string>
  applications: ApplicationCounts[]
  feedbackByApplication: ReadonlyMap<string, number>
  topEvents: TopEvent[]
  /** Devices by version. */
  versions: NameCount[]
  devices: number
  feedback: FeedbackSummary[]
  /** When the hours were counted, in ms since 1970; undefined if never. */
  countedAtMs: number | undefined
}

const latestFeedback = 3

export async function readOverview(
  reader: RecordReader,
  steps: Steps,
  names: Promise<ReadonlyMap<string, string>>,
): Promise<OverviewData> {
  const [arrivals, refusals, applications, feedbackByApplication, topEvents, versions] =
    await Promise.all([
      readArrivals(reader, steps),
      readKeyOutcomes(reader, steps, { onlyRefused: true }),
      readApplications(reader, steps),
      countFeedback(reader, steps),
      readTopEvents(reader, steps),
      readVersions(reader, steps),
    ])
  const [devices, countedAtMs, feedback] = await Promise.all([
    countDevices(reader, steps),
    readCountedAt(reader),
    listRecords(reader, 'feedback', {}),
  ])
  return {
    steps,
    arrivals,
    refusals,
    names: await names,
    applications,
    feedbackByApplication,
    topEvents,
    versions,
    devices,
    countedAtMs,
    feedback: feedback.rows.slice(0, latestFeedback),
  }
}

async function countFeedback(
  reader: RecordReader,
  { from, to }: Steps,
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query<{ bundle_identifier: string; feedback: number }>(
    `SELECT bundle_identifier, count() AS feedback FROM intake.feedback
     WHERE time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime64(3, 'UTC')}
     GROUP BY bundle_identifier ORDER BY feedback DESC LIMIT 200 ${querySettings}`,
    { from: sqlTime(new Date(from)), to: sqlTime(new Date(to)) },
  )
  return new Map(rows.map((row) => [row.bundle_identifier, row.feedback]))
}

/** Whether nothing has arrived in the last 30 days, neither accepted nor refused. */
export const isNew = ({ arrivals, refusals, applications, feedback }: OverviewData): boolean =>
  applications.length === 0 &&
  feedback.length === 0 &&
  refusals.length === 0 &&
  arrivals.every(({ events, feedback: count }) => events + count === 0)
