import { html, type Html } from '../html.ts'
import type { Steps } from '../period.ts'
import type { NameCount } from '../read-counts.ts'
import type { Arrivals, KeyOutcome } from '../read-outcomes.ts'
import type { EventSummary } from '../records.ts'
import { printSearch, type Search } from '../search.ts'
import type { Header } from '../worker-state.ts'
import { document } from './document.ts'
import { eventRows } from './event-rows.ts'
import { filterForm } from './filter-form.ts'
import { byName } from './links.ts'
import { arrivalChart, refusalList, type KeyNames } from './outcomes.ts'
import { bars, warnings, card, mute } from './parts.ts'

/** The script of the view replaces the chart and the side column regularly. */
export interface LiveBesides {
  minutes: readonly Arrivals[]
  minuteSteps: Steps
  refusals: readonly KeyOutcome[]
  names: KeyNames
  frequent: readonly NameCount[]
}

/** @param options.sinceMs the time from which the next poll reads, in ms since 1970 */
export function liveView(options: {
  header: Header
  search: Search
  rows: readonly EventSummary[]
  besides: LiveBesides
  sinceMs: number
}): Html {
  const { header, search, rows, besides, sinceMs } = options
  return document({
    header,
    view: 'live',
    title: 'Live events',
    heading: 'Live',
    isLive: true,
    alert: warnings(header),
    tools: html`<div class="live" id="live" data-since="${sinceMs}">
      <span role="status" id="state">Live</span
      ><button type="button" id="pause" class="outline small" hidden>Pause</button>
    </div>`,
    body: html`${filterForm({ path: '/live', search })}
      <div class="grid split">
        <div>
          ${liveChart(besides)}
          ${card(
            html`As they arrive
              <button type="button" id="held" class="small" hidden>0 new, show</button>`,
            html`${mute(rows.length === 0 && 'Waiting for events.')}${eventRows(rows, { nowMs: header.nowMs, search, id: 'rows' })}
              <p class="pages">
                <a href="/events?${printSearch(search)}">All events, by the time they happened</a>
              </p>`,
          )}
        </div>
        ${liveAside(search, besides)}
      </div>`,
  })
}

export const liveAside = (search: Search, { refusals, names, frequent }: LiveBesides): Html =>
  html`<aside class="grid" id="beside">
    ${card(
      'Not arriving?',
      html`${mute('Refused in the last 30 minutes, for all keys:')} ${refusalList(refusals, names)}
      ${mute(
        'An event shows up about a second after the gateway has answered 201. Phones without a network send later: such events are marked with their delay.',
      )}`,
    )}
    ${card(
      html`Last minute <small>most frequent events</small>`,
      bars(frequent, ({ name }) => `/live?${printSearch({ ...search, ...byName('event', name) })}`),
    )}
  </aside>`

export const liveChart = ({ minutes, minuteSteps }: LiveBesides): Html =>
  card(
    html`Last 30 minutes <small class="hide">all keys, by arrival</small>`,
    arrivalChart(minutes, minuteSteps),
    'minutes',
  )
