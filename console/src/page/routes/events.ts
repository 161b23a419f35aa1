import { dayMs } from '@intake/contract'
import { countEvents } from '../count-events.ts'
import { findAnything } from '../find-anything.ts'
import { listRecords } from '../list-records.ts'
import { stepsOf, chosenPeriod, withinPeriod } from '../period.ts'
import { readTopEvents, readVersions } from '../read-counts.ts'
import { readSearch, withoutPeriod } from '../search.ts'
import { eventList } from '../views/event-list.ts'
import type { Suggestions } from '../views/filter-form.ts'
import type { ViewContext } from './context.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'

/** `GET /events`: a list with a histogram. */
export function eventRoutes(context: ViewContext) {
  const { reader, counts: countReader, cached, cachedBriefly, view } = context
  view('/events', async ({ query, header }) => {
    const search = readSearch(query, 'logs')
    const chosen = chosenPeriod(query, search, { absent: '24h', nowMs: header.nowMs })
    const { steps } = chosen
    const counted = withoutPeriod(search)
    const key = JSON.stringify(['events', counted, steps])
    const isLong = steps.to - steps.from > 2 * dayMs
    const [found, counts, suggestions] = await Promise.all([
      listRecords(reader, 'logs', withinPeriod(search, chosen)),
      (isLong ? cached : cachedBriefly)(key, () => countEvents(countReader, counted, steps)),
      unlessClickHouseFails(
        cached(`names ${counted.application ?? ''}`, () => readSuggestions(counted.application)),
      ),
    ])
    const { event, application } = search
    const isMissing = found.rows.length === 0 && event !== undefined
    const names = isMissing
      ? await unlessClickHouseFails(findAnything(countReader, event, application))
      : undefined
    const near = names ? [...names.found.filter(({ kind }) => kind === 'event'), ...names.near] : []
    return eventList({ header, search, found, counts, chosen, suggestions, near })
  })

  async function readSuggestions(application: string | undefined): Promise<Suggestions> {
    const week = stepsOf('7d', Date.now())
    const counts = await countReader()
    const [event, version] = await Promise.all([
      readTopEvents(counts, week, application),
      readVersions(counts, week, application),
    ])
    return { event, version }
  }
}
