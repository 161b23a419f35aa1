import { isoTime } from '@intake/clickhouse'
import type { CountReader } from './count-reader.ts'
import { readFindings, type Findings } from './findings.ts'
import { listRecords } from './list-records.ts'
import { inWindow, windowBefore, windowParams, type Steps } from './period.ts'
import {
  countDevices,
  countEventsIn,
  readApplications,
  readCountedAt,
  readTopEvents,
  type ApplicationCounts,
  type TopEvent,
} from './read-counts.ts'
import type { TimeWindow } from './read-in-windows.ts'
import { readArrivals, readKeyOutcomes, type Arrivals, type KeyOutcome } from './read-outcomes.ts'
import { querySettings, type FeedbackSummary, type RecordReader } from './records.ts'
import { createViewParts } from './view-parts.ts'

/** Numbers of a period, by the time at which the records happened. */
export interface Totals {
  events: number
  devices: number
  feedback: number
}

/** The data of the overview. It contains counts of events, but no single event. */
export interface OverviewData {
  steps: Steps
  arrivals: Arrivals[]
  /** How many records were refused in the period before. */
  refusedBefore: number
  now: Totals
  /** The same numbers of the period before. */
  before: Totals
  refusals: KeyOutcome[]
  /** The name of each API key, by the id of the key. */
  names: ReadonlyMap<string, string>
  applications: ApplicationCounts[]
  feedbackByApplication: ReadonlyMap<string, number>
  topEvents: TopEvent[]
  findings: Findings
  feedback: FeedbackSummary[]
  /** When workers last counted the hours, in ms since 1970; undefined if never. */
  countedAtMs: number | undefined
  /** Whether all counts of events are made from the records, so none is behind. */
  isExact: boolean
  firstAtMs: FirstArrivals
  /** Whether ClickHouse could not read some parts, which are then empty or zero. */
  isPartial: boolean
}

/**
 * When the first record of each kind arrived, in ms since 1970. Undefined if none has arrived, or
 * if so many are stored that nobody needs to know.
 */
export type FirstArrivals = Record<'logs' | 'feedback', number | undefined>

const latestFeedback = 3
const noArrivals: FirstArrivals = { logs: undefined, feedback: undefined }
const noFeedback: ReadonlyMap<string, number> = new Map()
export const noFindings: Findings = {
  alerts: [],
  newErrors: [],
  silent: [],
  stopped: [],
  drift: [],
  personal: [],
}

export async function readOverview(
  counts: CountReader,
  { steps, nowMs }: { steps: Steps; nowMs: number },
  names: Promise<ReadonlyMap<string, string>>,
): Promise<OverviewData> {
  const { orElse, isPartial } = createViewParts()
  const totalsOf = async (window: TimeWindow): Promise<Totals> => {
    const [events, devices, feedback] = await Promise.all([
      orElse(countEventsIn(counts, window), 0),
      orElse(countDevices(counts, window), 0),
      orElse(countFeedback(counts, window), noFeedback),
    ])
    return { events, devices, feedback: [...feedback.values()].reduce((sum, one) => sum + one, 0) }
  }

  const earlier = windowBefore(steps, nowMs)
  const both = { ...steps, from: earlier.from }
  const [arrivals, refusals, applications, topEvents, findings, now, before] = await Promise.all([
    orElse(readArrivals(counts, both), []),
    orElse(readKeyOutcomes(counts, steps, { onlyRefused: true }), []),
    orElse(readApplications(counts, steps), []),
    orElse(readTopEvents(counts, steps), []),
    orElse(readFindings(counts, undefined), noFindings),
    totalsOf(steps),
    totalsOf(earlier),
  ])
  const [feedbackByApplication, countedAtMs, feedback, firstAtMs] = await Promise.all([
    orElse(countFeedback(counts, steps), noFeedback),
    orElse(readCountedAt(counts), undefined),
    orElse(listRecords(counts, 'feedback', {}), { rows: [], hasMore: false }),
    counts.isExact ? orElse(readFirstArrivals(counts), noArrivals) : noArrivals,
  ])
  const isBefore = ({ t }: Arrivals) => t < steps.from
  return {
    steps,
    arrivals: arrivals.filter((step) => !isBefore(step)),
    refusedBefore: arrivals.filter(isBefore).reduce((sum, { refused }) => sum + refused, 0),
    now,
    before,
    refusals,
    names: await names,
    applications,
    feedbackByApplication,
    topEvents,
    findings,
    countedAtMs,
    isExact: counts.isExact,
    firstAtMs,
    isPartial: isPartial(),
    feedback: feedback.rows.slice(0, latestFeedback),
  }
}

/** Counts the feedback of each application. The result lacks applications without feedback. */
export async function countFeedback(
  reader: RecordReader,
  window: TimeWindow,
): Promise<ReadonlyMap<string, number>> {
  const rows = await reader.query<{ bundle_identifier: string; feedback: number }>(
    `SELECT bundle_identifier, count() AS feedback FROM intake.feedback
     WHERE ${inWindow('time')}
     GROUP BY bundle_identifier ORDER BY feedback DESC LIMIT 1000 ${querySettings}`,
    windowParams(window),
  )
  return new Map(rows.map((row) => [row.bundle_identifier, row.feedback]))
}

async function readFirstArrivals(counts: CountReader): Promise<FirstArrivals> {
  const firstOf = async (kind: 'logs' | 'feedback') => {
    const [row] = await counts.query<{ first: string | null }>(
      `SELECT minOrNull(received_at) AS first FROM intake.${kind} ${querySettings}`,
    )
    return row?.first ? Date.parse(isoTime(row.first)) : undefined
  }
  const [logs, feedback] = await Promise.all([firstOf('logs'), firstOf('feedback')])
  return { logs, feedback }
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
