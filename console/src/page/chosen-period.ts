import { limits } from '@intake/contract'
import { readPeriod, stepsBetween, stepsOf, type PeriodName, type Steps } from './period.ts'
import type { Search } from './search.ts'

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
  const dayBefore = end - 24 * 3_600_000
  const begin = Math.min(bounded(from?.getTime() ?? dayBefore), end)
  return { steps: stepsBetween({ from: begin, to: end }), period: undefined, isGiven: false }
}

export const withinPeriod = (search: Search, { steps, isGiven }: ChosenPeriod): Search =>
  isGiven ? { ...search, from: new Date(steps.from), to: new Date(steps.to) } : search
