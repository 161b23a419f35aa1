import { minuteMs } from '@intake/contract'
import {
  pollArrivals,
  pollRowsMax,
  readFrequentArrivals,
  readLatestArrivals,
} from '../live-events.ts'
import { PageError } from '../page-error.ts'
import { stepsOf } from '../period.ts'
import { html } from '../html.ts'
import { readArrivals, readKeyOutcomes } from '../read-outcomes.ts'
import { printSearch, readSearch, type Search } from '../search.ts'
import { liveSecurityPolicy } from '../security-headers.ts'
import { freshnessOf } from '../views/document.ts'
import { eventRow } from '../views/event-rows.ts'
import { liveAside, liveChart, liveView, type LiveBesides } from '../views/live.ts'
import type { Header } from '../worker-state.ts'
import { unlessClickHouseFails } from '../without-clickhouse.ts'
import type { ViewContext } from './context.ts'

/** So that polls are cheap even if the queue has a long backlog. */
const overlapMsMax = 30 * minuteMs

/** All events that arrived before it are visible; if that is not known, the last minute. */
const nextSince = ({ freshness, nowMs }: Header): number =>
  Math.min(nowMs, freshness.logs.visibleUntilMs ?? nowMs - minuteMs)

const cut = `Live: only the newest ${pollRowsMax}, filter to see all`
const early = `Live: without events that arrived ${overlapMsMax / minuteMs} min ago or earlier`

/** `GET /live`, and `GET /live/rows` for its script. */
export function liveRoutes({ reader, state, cachedBriefly, view }: ViewContext): void {
  view('/live', async ({ query, header, reply }) => {
    reply.header('content-security-policy', liveSecurityPolicy)
    const search = readSearch(query, 'logs')
    const [rows, besides] = await Promise.all([
      readLatestArrivals(reader, search, header.nowMs),
      readBesides(search, header.nowMs),
    ])
    return liveView({ header, search, rows, besides, sinceMs: nextSince(header) })
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
      query.has('besides') ? unlessClickHouseFails(readBesides(search, header.nowMs)) : undefined,
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

  async function readBesides(search: Search, nowMs: number): Promise<LiveBesides> {
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
}
