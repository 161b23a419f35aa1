import { minuteMs } from '@intake/contract'
import { html, type Html } from '../html.ts'
import {
  pollArrivals,
  pollRowsMax,
  readFrequentArrivals,
  readLatestArrivals,
} from '../live-events.ts'
import { PageError } from '../page-error.ts'
import { stepsOf } from '../period.ts'
import { readArrivals, readKeyOutcomes } from '../read-outcomes.ts'
import { printSearch, readSearch, type Search } from '../search.ts'
import { liveSecurityPolicy } from '../security-headers.ts'
import { document, freshnessOf } from '../views/document.ts'
import { eventRow, eventRows } from '../views/event-rows.ts'
import { filterForm } from '../views/filter-form.ts'
import { byName } from '../views/links.ts'
import { arrivalChart, refusalList } from '../views/outcomes.ts'
import { bars, card, mute, warnings } from '../views/parts.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'
import type { Header } from '../worker-state.ts'
import type { ViewContext } from './context.ts'

/** So that polls are cheap even if the queue has a long backlog. */
const overlapMsMax = 30 * minuteMs

/** All events that arrived before it are visible; if that is not known, the last minute. */
const nextSince = ({ freshness, nowMs }: Header): number =>
  Math.min(nowMs, freshness.logs.visibleUntilMs ?? nowMs - minuteMs)

const cut = `Live: only the newest ${pollRowsMax}, filter to see all`
const early = `Live: without events that arrived ${overlapMsMax / minuteMs} min ago or earlier`

/** `GET /live`, and `GET /live/rows` for its script. */
export function liveRoutes(context: ViewContext): void {
  const { reader, cachedBriefly, view } = context
  view('/live', async ({ query, header, reply }) => {
    reply.header('content-security-policy', liveSecurityPolicy)
    const search = readSearch(query, 'logs')
    const [rows, besides] = await Promise.all([
      readLatestArrivals(reader, search, header.nowMs),
      readBesides(context, search, header.nowMs),
    ])
    return document({
      header,
      view: 'live',
      title: 'Live events',
      heading: 'Live',
      isLive: true,
      alert: warnings(header),
      tools: html`<div class="live" id="live" data-since="${nextSince(header)}">
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
  })

  view('/live/rows', async ({ query, header, reply }) => {
    const search = readSearch(query, 'logs')
    const sinceMs = Number(query.get('since'))
    if (!Number.isSafeInteger(sinceMs))
      throw new PageError(400, 'since must be a time in milliseconds.')
    // Rounds to whole seconds, so that readers who poll at the same time share a query.
    const earliestMs = Math.floor((header.nowMs - overlapMsMax) / 1_000) * 1_000
    const from = Math.min(header.nowMs, Math.max(sinceMs, earliestMs))
    const reading = cachedBriefly(`live rows ${printSearch(search)} ${from}`, () =>
      pollArrivals(reader, search, { sinceMs: from, nowMs: header.nowMs }),
    )
    const [found, besides] = await Promise.all([
      unlessClickHouseFails(reading),
      query.has('besides')
        ? unlessClickHouseFails(readBesides(context, search, header.nowMs))
        : undefined,
    ])
    if (found === undefined) reply.code(503)
    else {
      reply.header('x-since', String(nextSince(header)))
      if (found.hasMore || from > sinceMs) reply.header('x-state', found.hasMore ? cut : early)
    }
    // The tab may be open for hours, so its header must get the current freshness, above all when
    // ClickHouse does not respond.
    return html`${freshnessOf(header, 'logs')}${besides && [liveChart(besides), liveAside(search, besides)]}${found?.rows.map((row) => eventRow(row, header.nowMs, search))}`
  })
}

async function readBesides(context: ViewContext, search: Search, nowMs: number) {
  const { reader, state, cachedBriefly } = context
  const hour = stepsOf('1h', nowMs)
  const minuteSteps = { ...hour, from: hour.to - 30 * minuteMs }
  const [minutes, refusals, frequent, names] = await Promise.all([
    cachedBriefly('live minutes', () => readArrivals(reader, minuteSteps)),
    cachedBriefly('live refusals', () =>
      readKeyOutcomes(reader, minuteSteps, { onlyRefused: true }),
    ),
    cachedBriefly(`live frequent ${printSearch(search)}`, () =>
      readFrequentArrivals(reader, search, nowMs),
    ),
    state.keyNames(),
  ])
  return { minutes, minuteSteps, refusals, frequent, names }
}

/** The script of the view replaces the chart and the side column regularly. */
type LiveBesides = Awaited<ReturnType<typeof readBesides>>

const liveAside = (search: Search, { refusals, names, frequent }: LiveBesides): Html =>
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

const liveChart = ({ minutes, minuteSteps }: LiveBesides): Html =>
  card(
    html`Last 30 minutes <small class="hide">all keys, by arrival</small>`,
    arrivalChart(minutes, minuteSteps),
    'minutes',
  )
