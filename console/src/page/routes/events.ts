import { dayMs } from '@intake/contract'
import { plural } from '@intake/runtime'
import { chart } from '../charts.ts'
import { countEvents, type EventCounts } from '../count-events.ts'
import { findAnything } from '../find-anything.ts'
import { html, type Html } from '../html.ts'
import { listRecords } from '../list-records.ts'
import { wholeNumber } from '../numbers.ts'
import { stepsOf, chosenPeriod, withinPeriod, type Steps } from '../period.ts'
import { readTopEvents, readVersions } from '../read-counts.ts'
import { printSearch, readSearch, stepAt, withoutPeriod, type Search } from '../search.ts'
import { document } from '../views/document.ts'
import { eventRows } from '../views/event-rows.ts'
import { filterForm } from '../views/filter-form.ts'
import { nextPage } from '../views/links.ts'
import { warnings, card, mute, periodLinks } from '../views/parts.ts'
import { nearCard } from '../views/search.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'
import { clockTime } from '../zone.ts'
import type { ViewContext } from './context.ts'

/** `GET /events`: a list with a histogram. */
export function eventRoutes(context: ViewContext) {
  const { reader, counts: countReader, cached, cachedBriefly, view } = context
  view('/events', async ({ query, header }) => {
    const search = readSearch(query, 'logs')
    const chosen = chosenPeriod(query, search, { absent: '24h', nowMs: header.nowMs })
    const { period, steps } = chosen
    const counted = withoutPeriod(search)
    const { event, application } = search
    const key = JSON.stringify(['events', counted, steps])
    const isLong = steps.to - steps.from > 2 * dayMs
    const [found, counts, suggestions] = await Promise.all([
      listRecords(reader, 'logs', withinPeriod(search, chosen)),
      (isLong ? cached : cachedBriefly)(key, () => countEvents(countReader, counted, steps)),
      unlessClickHouseFails(
        cached(`names ${application ?? ''}`, () => readSuggestions(application)),
      ),
    ])
    const isMissing = found.rows.length === 0 && event !== undefined
    const names = isMissing
      ? await unlessClickHouseFails(findAnything(countReader, event, application))
      : undefined
    const near = names ? [...names.found.filter(({ kind }) => kind === 'event'), ...names.near] : []
    const listed = chosen.isGiven ? { ...search, period } : search
    const filter = printSearch(counted)
    return document({
      header,
      view: 'events',
      title: 'Events',
      alert: warnings(header),
      tools: periodLinks(period, '/events', { query: filter }),
      body: html`${filterForm({ path: '/events', search: listed, suggestions })} ${nearCard(near)}
      ${counts ? histogram(counts, counted, { steps, completeUntilMs: header.freshness.logs.visibleUntilMs }) : tooMany}
      ${card(
        html`Newest first <a href="/live?${filter}">follow live</a>`,
        html`${eventRows(found.rows, { nowMs: header.nowMs, search })}${nextPage('logs', listed, found)}`,
      )}`,
    })
  })

  async function readSuggestions(application: string | undefined) {
    const week = stepsOf('7d', Date.now())
    const counts = await countReader()
    const [event, version] = await Promise.all([
      readTopEvents(counts, week, application),
      readVersions(counts, week, application),
    ])
    return { event, version }
  }
}

const tooMany = mute(
  'Too many events to count in this period: narrow it, or wait until a console has counted the hours.',
)

function histogram(
  { points, total, countedAtMs }: EventCounts,
  search: Search,
  { steps, completeUntilMs }: { steps: Steps; completeUntilMs: number | undefined },
): Html {
  const note =
    countedAtMs === undefined ? undefined : `, older hours as counted at ${clockTime(countedAtMs)}`
  return card(
    html`${wholeNumber(total)} ${plural(total, 'event matches', 'events match')}
      <small class="hide">by the time they happened${note}</small>`,
    chart({
      points,
      stepMs: steps.stepMs,
      columns: [['events', 'events']],
      label: `${wholeNumber(total)} ${plural(total, 'event')}.`,
      href: (from) => `?${printSearch({ ...search, ...stepAt(from, steps) })}`,
      completeUntilMs,
    }),
  )
}
