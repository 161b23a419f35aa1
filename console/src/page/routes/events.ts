import { limits } from '@intake/contract'
import { countEvents } from '../count-events.ts'
import { findAnything } from '../find-anything.ts'
import { listRecords } from '../list-records.ts'
import { withTyped } from '../filter-words.ts'
import { readPeriod, stepsBetween, stepsOf, type PeriodName, type Steps } from '../period.ts'
import { readCountedAt, readTopEvents, readVersions } from '../read-counts.ts'
import { readSearch, type Search } from '../search.ts'
import { eventList } from '../views/event-list.ts'
import type { Suggestions } from '../views/filter-form.ts'
import type { ViewContext } from './context.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'

/**
 * Returns the period of a search. The reader chooses it by name (`isGiven` is then true), or by a
 * beginning or an end. If the reader chooses none, the period is `absent`.
 */
export function chosenPeriod(
  query: URLSearchParams,
  search: Search,
  options: { absent: PeriodName; nowMs: number },
): { steps: Steps; period: PeriodName | undefined; isGiven: boolean } {
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

/** Adds the period to a search if the reader has chosen the period by its name. */
export const withinPeriod = (
  search: Search,
  { steps, isGiven }: ReturnType<typeof chosenPeriod>,
): Search => (isGiven ? { ...search, from: new Date(steps.from), to: new Date(steps.to) } : search)

/** `GET /events`: a list with a histogram. */
export function eventRoutes({
  reader,
  counts: countReader,
  cached,
  cachedBriefly,
  view,
}: ViewContext) {
  view('/events', async ({ query, header }) => {
    const typed = withTyped(query, 'logs')
    if (typed !== undefined) return { path: `/events?${typed}` }
    const search = readSearch(query, 'logs')
    const chosen = chosenPeriod(query, search, { absent: '24h', nowMs: header.nowMs })
    const { steps, period, isGiven } = chosen
    const { after: _, from: __, to: ___, ...counted } = search
    const key = JSON.stringify(['events', counted, steps])
    const isLong = steps.to - steps.from > 2 * 24 * 3_600_000
    const [found, counts, suggestions] = await Promise.all([
      listRecords(reader, 'logs', withinPeriod(search, chosen)),
      (isLong ? cached : cachedBriefly)(key, async () =>
        countEvents(await countReader(), {
          search: counted,
          steps,
          countedAtMs: await readCountedAt(reader),
        }),
      ),
      unlessClickHouseFails(
        cached(`names ${counted.application ?? ''}`, () =>
          readSuggestions(counted.application, header.nowMs),
        ),
      ),
    ])
    const { event, application } = search
    const isMissing = found.rows.length === 0 && event !== undefined
    const names = isMissing
      ? await unlessClickHouseFails(findAnything(await countReader(), event, application))
      : undefined
    const near = names ? [...names.found.filter(({ kind }) => kind === 'event'), ...names.near] : []
    return eventList({ header, search, found, counts, steps, period, isGiven, suggestions, near })
  })

  async function readSuggestions(
    application: string | undefined,
    nowMs: number,
  ): Promise<Suggestions> {
    const week = stepsOf('7d', nowMs)
    const counts = await countReader()
    const [events, versions] = await Promise.all([
      readTopEvents(counts, week, application),
      readVersions(counts, week, application),
    ])
    return {
      event: events.map(({ name }) => name),
      version: versions.map(({ name }) => name),
    }
  }
}
