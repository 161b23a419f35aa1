import { ClickHouseError } from '@intake/clickhouse'
import { listRecords } from './list-records.ts'
import { inWindow, windowParams, type Steps } from './period.ts'
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

/** The data of the overview. It contains counts of events, but no single event. */
export interface OverviewData {
  steps: Steps
  arrivals: Arrivals[]
  refusals: KeyOutcome[]
  /** The name of each API key, by the id of the key. */
  names: ReadonlyMap<string, string>
  applications: ApplicationCounts[]
  feedbackByApplication: ReadonlyMap<string, number>
  topEvents: TopEvent[]
  /** The number of devices of each version. */
  versions: NameCount[]
  devices: number
  feedback: FeedbackSummary[]
  /** When workers last counted the hours, in ms since 1970; undefined if never. */
  countedAtMs: number | undefined
  /** Whether ClickHouse could not read some counts of events, which are then empty or zero. */
  isPartial: boolean
}

const latestFeedback = 3

export async function readOverview(
  reader: RecordReader,
  steps: Steps,
  names: Promise<ReadonlyMap<string, string>>,
): Promise<OverviewData> {
  let isPartial = false
  /** Counts of events, whose cost depends on what clients send, must not end the whole view. */
  async function orElse<Data>(reading: Promise<Data>, otherwise: Data): Promise<Data> {
    try {
      return await reading
    } catch (error) {
      if (!(error instanceof ClickHouseError) || error.code === undefined) throw error
      isPartial = true
      return otherwise
    }
  }

  const [arrivals, refusals, applications, topEvents, versions] = await Promise.all([
    readArrivals(reader, steps),
    readKeyOutcomes(reader, steps, { onlyRefused: true }),
    orElse(readApplications(reader, steps), []),
    orElse(readTopEvents(reader, steps), []),
    orElse(readVersions(reader, steps), []),
  ])
  const [feedbackByApplication, devices, countedAtMs, feedback] = await Promise.all([
    countFeedback(
      reader,
      steps,
      applications.map((one) => one.bundle_identifier),
    ),
    orElse(countDevices(reader, steps), 0),
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
    isPartial,
    feedback: feedback.rows.slice(0, latestFeedback),
  }
}

/** Counts the feedback of each application. The result lacks applications without feedback. */
export async function countFeedback(
  reader: RecordReader,
  steps: Steps,
  applications: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query<{ bundle_identifier: string; feedback: number }>(
    `SELECT bundle_identifier, count() AS feedback FROM intake.feedback
     WHERE ${inWindow('time')} AND bundle_identifier IN {applications:Array(String)}
     GROUP BY bundle_identifier ${querySettings}`,
    { ...windowParams(steps), applications },
  )
  return new Map(rows.map((row) => [row.bundle_identifier, row.feedback]))
}

/**
 * Whether there is nothing: no event in 30 days, no feedback, no arrival or refusal in the period.
 */
export const isNew = ({
  isPartial,
  arrivals,
  refusals,
  applications,
  feedback,
}: OverviewData): boolean =>
  !isPartial &&
  applications.length === 0 &&
  feedback.length === 0 &&
  refusals.length === 0 &&
  arrivals.every(({ events, feedback: count, leftOut }) => events + count + leftOut === 0)
