import type { CountReader } from './count-reader.ts'
import { readFindings } from './findings.ts'
import { listRecords } from './list-records.ts'
import { sumOf } from './numbers.ts'
import { windowBefore, type Steps } from './period.ts'
import { readApplications, readCountedAt, readTopEvents, readTotals } from './read-counts.ts'
import { readArrivals, readKeyOutcomes, type Arrivals } from './read-outcomes.ts'
import { createViewParts, type ViewParts } from './without-clickhouse.ts'

/** What the overview says of all applications, and the view of one application of this one. */
export type Summary = Awaited<ReturnType<typeof readSummary>>

const latestFeedback = 3

export async function readSummary(
  counts: CountReader,
  options: { steps: Steps; nowMs: number; application?: string; orElse: ViewParts['orElse'] },
) {
  const { steps, nowMs, application, orElse } = options
  const search = application === undefined ? {} : { application }
  const [now, before, topEvents, findings, feedback, countedAtMs] = await Promise.all([
    orElse(readTotals(counts, steps, application), undefined),
    orElse(readTotals(counts, { ...steps, ...windowBefore(steps, nowMs) }, application), undefined),
    orElse(readTopEvents(counts, steps, application), []),
    readFindings(counts, application, orElse),
    orElse(listRecords(counts, 'feedback', search), { rows: [], hasMore: false }),
    orElse(readCountedAt(counts, counts.isExact ? 'catalogue' : 'hours'), undefined),
  ])
  const { isExact } = counts
  const latest = feedback.rows.slice(0, latestFeedback)
  return {
    steps,
    /** Undefined if they could not be counted. */
    now,
    before,
    topEvents,
    findings,
    feedback: latest,
    /** When hours, if exact the catalogue, were counted, in ms since 1970; undefined if never. */
    countedAtMs,
    isExact,
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
  { steps, nowMs }: { steps: Steps; nowMs: number },
  names: Promise<ReadonlyMap<string, string>>,
) {
  const { orElse, isPartial } = createViewParts()
  const both = { ...steps, from: windowBefore(steps, nowMs).from }
  const [summary, arrivals, refusals, applications, [firstAtMs = noArrivals]] = await Promise.all([
    readSummary(counts, { steps, nowMs, orElse }),
    orElse(readArrivals(counts, both), []),
    orElse(readKeyOutcomes(counts, steps, { onlyRefused: true }), []),
    orElse(readApplications(counts, steps), []),
    counts.isExact ? orElse(counts.query<FirstArrivals>(firstArrivals), []) : [],
  ])
  const isBefore = ({ t }: Arrivals) => t < steps.from
  return {
    ...summary,
    arrivals: arrivals.filter((step) => !isBefore(step)),
    refusedBefore: sumOf(arrivals.filter(isBefore), ({ refused }) => refused),
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
