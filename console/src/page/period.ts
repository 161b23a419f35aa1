import { sqlTime } from '@intake/clickhouse'
import { dayMs, hourMs, limits, minuteMs } from '@intake/contract'
import { PageError } from './page-error.ts'
import type { Search } from './search.ts'

/** Milliseconds since 1970; `to` is excluded. */
export interface TimeWindow {
  from: number
  to: number
}

/** `stepMs` is the time that one column of a chart covers. */
export const periods = {
  '1h': { name: '1 h', lengthMs: hourMs, stepMs: minuteMs },
  '24h': { name: '24 h', lengthMs: dayMs, stepMs: hourMs },
  '7d': { name: '7 d', lengthMs: 7 * dayMs, stepMs: 3 * hourMs },
  '30d': { name: '30 d', lengthMs: 30 * dayMs, stepMs: dayMs },
} as const
export type PeriodName = keyof typeof periods

export interface Steps extends TimeWindow {
  stepMs: number
}

/** @throws {PageError} 400 if there is no such period */
export function readPeriod(query: URLSearchParams, absent: PeriodName): PeriodName {
  const name = query.get('period') ?? absent
  if (Object.hasOwn(periods, name)) return name as PeriodName
  throw new PageError(400, `period must be one of ${Object.keys(periods).join(', ')}.`)
}

/** Divides a period into steps. The last step contains the present and is not over yet. */
export function stepsOf(name: PeriodName, nowMs: number): Steps {
  const { lengthMs, stepMs } = periods[name]
  const to = Math.floor(nowMs / stepMs) * stepMs + stepMs
  return { from: to - lengthMs, to, stepMs }
}

/** The period before, without its last step, because that of this period is not over. */
export const windowBefore = ({ from, to, stepMs }: Steps): TimeWindow => ({
  from: 2 * from - to,
  to: from - stepMs,
})

const widthsMs = [1_000, 10_000, minuteMs, 5 * minuteMs, 15 * minuteMs, hourMs, 3 * hourMs, dayMs]
const stepsMax = 72

/** The shortest steps of which at most `stepsMax` fit; both ends are rounded to whole steps. */
export function stepsBetween({ from, to }: TimeWindow): Steps {
  const stepMs =
    widthsMs.find((widthMs) => (to - from) / widthMs <= stepsMax) ??
    Math.ceil((to - from) / stepsMax / dayMs) * dayMs
  const first = Math.floor(from / stepMs) * stepMs
  return { from: first, to: Math.max(first + stepMs, Math.ceil(to / stepMs) * stepMs), stepMs }
}

export const startsOf = ({ from, to, stepMs }: Steps): number[] =>
  Array.from({ length: Math.round((to - from) / stepMs) }, (_, index) => from + index * stepMs)

/** @param counts beginnings of steps in seconds since 1970, with their counts */
export function seriesOf(counts: Iterable<readonly [number, number]>, steps: Steps): number[] {
  const numbers = new Map(counts)
  return startsOf(steps).map((t) => numbers.get(t / 1_000) ?? 0)
}

/** SQL for the beginning of the step that contains the time in `column`, in seconds since 1970. */
export const stepOf = (column: string, { stepMs }: Steps): string =>
  `toUInt32(intDiv(toUnixTimestamp(${column}), ${stepMs / 1_000}) * ${stepMs / 1_000})`

/** SQL that selects the rows of a window. The query needs `windowParams`. */
export const inWindow = (column: 'time' | 'hour' | 'minute' | 'received_at'): string =>
  `${column} >= {from:DateTime64(3, 'UTC')} AND ${column} < {to:DateTime64(3, 'UTC')}`

export const windowParams = ({ from, to }: TimeWindow) => ({
  from: sqlTime(new Date(from)),
  to: sqlTime(new Date(to)),
})

export interface ChosenPeriod {
  steps: Steps
  /** Undefined if the reader has chosen a beginning or an end instead. */
  period: PeriodName | undefined
  /** Whether the reader has chosen `period`; if so, the list is limited to it. */
  isGiven: boolean
}

export function chosenPeriod(
  query: URLSearchParams,
  search: Search,
  options: { absent: PeriodName; nowMs: number },
): ChosenPeriod {
  const { absent, nowMs } = options
  const { from, to } = search
  if (from === undefined && to === undefined) {
    const period = readPeriod(query, absent)
    return { steps: stepsOf(period, nowMs), period, isGiven: query.has('period') }
  }
  const { after } = limits.recordTimeMs
  // No record has a time outside these bounds, and some times outside them are too large or too
  // small for ClickHouse.
  const bounded = (ms: number) => Math.min(Math.max(ms, after), nowMs + limits.eventAheadMs)
  const end = bounded(to?.getTime() ?? nowMs)
  const begin = Math.min(bounded(from?.getTime() ?? end - dayMs), end)
  return { steps: stepsBetween({ from: begin, to: end }), period: undefined, isGiven: false }
}

export const withinPeriod = (search: Search, { steps, isGiven }: ChosenPeriod): Search =>
  isGiven ? { ...search, from: new Date(steps.from), to: new Date(steps.to) } : search
