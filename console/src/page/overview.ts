import type { CountReader } from './count-reader.ts'
import { readFindings } from './findings.ts'
import { listRecords } from './list-records.ts'
import { sumOf } from './numbers.ts'
import { windowBefore, type Steps } from './period.ts'
import { readApplications, readCountedAt, readTopEvents, readTotals } from './read-counts.ts'
import { readArrivals, readKeyOutcomes } from './read-outcomes.ts'
import { createViewParts, type ViewParts } from './without-clickhouse.ts'

/** What the overview says of all applications, and the view of one application of this one. */
export type Summary = Awaited<ReturnType<typeof readSummary>>

const latestFeedback = 3

export async function readSummary(
  counts: CountReader,
  options: { steps: Steps; application?: string; orElse: ViewParts['orElse'] },
) {
  const { steps, application, orElse } = options
  const search = application === undefined ? {} : { application }
  const [now, before, topEvents, findings, feedback, countedAtMs] = await Promise.all([
    orElse(readTotals(counts, steps, application), undefined),
    orElse(readTotals(counts, { ...steps, ...windowBefore(steps) }, application), undefined),
    orElse(readTopEvents(counts, steps, application), []),
    readFindings(counts, application, orElse),
    orElse(listRecords(counts, 'feedback', search), { rows: [], hasMore: false }),
    orElse(readCountedAt(counts, counts.isExact ? 'catalogue' : 'hours'), undefined),
  ])
  return {
    steps,
    /** Undefined if they could not be counted. */
    now,
    before,
    topEvents,
    findings,
    feedback: feedback.rows.slice(0, latestFeedback),
    /** When hours, if exact the catalogue, were counted, in ms since 1970; undefined if never. */
    countedAtMs,
    isExact: counts.isExact,
  }
}

export type OverviewData = Awaited<ReturnType<typeof readOverview>>

/** The times are in ms since 1970; null if none arrived, or if too many are stored to matter. */
type FirstArrivals = Record<'logs' | 'feedback', number | null>

const noArrivals: FirstArrivals = { logs: null, feedback: null }
const firstArrivals = `
  SELECT (SELECT toUnixTimestamp64Milli(minOrNull(received_at)) FROM intake.logs) AS logs,
    (SELECT toUnixTimestamp64Milli(minOrNull(received_at)) FROM intake.feedback) AS feedback`

export async function readOverview(
  counts: CountReader,
  steps: Steps,
  names: Promise<ReadonlyMap<string, string>>,
) {
  const { orElse, isPartial } = createViewParts()
  const before = windowBefore(steps)
  const [summary, arrivals, refusals, applications, [firstAtMs = noArrivals]] = await Promise.all([
    readSummary(counts, { steps, orElse }),
    orElse(readArrivals(counts, { ...steps, from: before.from }), []),
    orElse(readKeyOutcomes(counts, steps, { onlyRefused: true }), []),
    orElse(readApplications(counts, steps), []),
    counts.isExact ? orElse(counts.query<FirstArrivals>(firstArrivals), []) : [],
  ])
  return {
    ...summary,
    arrivals: arrivals.filter(({ t }) => t >= steps.from),
    refusedBefore: sumOf(arrivals, ({ t, refused }) => (t < before.to ? refused : 0)),
    refusals,
    names: await names,
    applications,
    firstAtMs,
    isPartial: isPartial(),
  }
}

/** Whether there is no event in 30 days, no feedback, and no arrival or refusal in the period. */
export const isNew = (data: OverviewData): boolean =>
  !data.isPartial &&
  [data.applications, data.feedback, data.refusals].every((rows) => rows.length === 0) &&
  data.arrivals.every(({ events, feedback, leftOut }) => events + feedback + leftOut === 0)
