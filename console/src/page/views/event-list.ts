import { plural } from '@intake/runtime'
import type { EventCounts } from '../count-events.ts'
import { chart } from '../charts.ts'
import type { Match } from '../find-anything.ts'
import { html, type Html } from '../html.ts'
import { wholeNumber } from '../numbers.ts'
import type { Steps, ChosenPeriod } from '../period.ts'
import type { EventSummary, Found } from '../records.ts'
import { printSearch, stepAt, withoutPeriod, type Search } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { clockTime } from '../zone.ts'
import { document } from './document.ts'
import { eventRows } from './event-rows.ts'
import { filterForm, type Suggestions } from './filter-form.ts'
import { nextPage } from './links.ts'
import { warnings, card, mute, periodLinks } from './parts.ts'
import { nearCard } from './search.ts'

export function eventList(options: {
  header: Header
  search: Search
  found: Found<EventSummary>
  /** Undefined if counting would read too much. */
  counts: EventCounts | undefined
  chosen: ChosenPeriod
  suggestions: Suggestions | undefined
  near: readonly Match[]
}): Html {
  const { header, search, found, counts, chosen, suggestions, near } = options
  const { period, steps } = chosen
  const rest = withoutPeriod(search)
  const listed = chosen.isGiven ? { ...search, period } : search
  const query = printSearch(rest)
  return document({
    header,
    view: 'events',
    title: 'Events',
    alert: warnings(header),
    tools: periodLinks(period, '/events', { query }),
    body: html`${filterForm({ path: '/events', search: listed, suggestions })} ${nearCard(near)}
    ${histogram({ header, search: rest, counts, steps })}
    ${card(
      html`Newest first <a href="/live?${query}">follow live</a>`,
      html`${eventRows(found.rows, { nowMs: header.nowMs, search })}${nextPage('logs', listed, found)}`,
    )}`,
  })
}

function histogram(options: {
  header: Header
  search: Search
  counts: EventCounts | undefined
  steps: Steps
}): Html | undefined {
  const { header, search, counts, steps } = options
  if (counts === undefined)
    return mute(
      'Too many events to count in this period: narrow it, or wait until a console has counted the hours.',
    )
  const { points, total, countedAtMs } = counts
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
      completeUntilMs: header.freshness.logs.visibleUntilMs,
    }),
  )
}
