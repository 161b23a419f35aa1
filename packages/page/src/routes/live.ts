import {
  arrivedMs,
  countNames,
  pollArrivals,
  pollRowsMax,
  readLatestArrivals,
} from '../live-events.ts'
import { PageError } from '../page-error.ts'
import { stepsOf } from '../period.ts'
import { html } from '../html.ts'
import { readArrivals, readKeyOutcomes } from '../read-outcomes.ts'
import { printSearch, readSearch } from '../search.ts'
import { liveSecurityPolicy } from '../security-headers.ts'
import { freshnessOf } from '../views/document.ts'
import { eventRow } from '../views/event-rows.ts'
import { liveView } from '../views/live.ts'
import type { Header } from '../worker-state.ts'
import { unlessClickHouseFails } from './without-clickhouse.ts'
import type { ViewContext } from './context.ts'

const minuteMs = 60_000
/**
 * How far back a poll reads at most, in milliseconds, so that polls are cheap while the queue has a
 * long backlog.
 */
const overlapMsMax = 30 * minuteMs

/**
 * Returns the time from which the next poll must read, in ms since 1970. All events that arrived
 * before it are visible, unless they are older than `overlapMsMax`.
 */
const nextSince = ({ freshness, nowMs }: Header): number =>
  Math.min(nowMs, freshness.logs.visibleUntilMs ?? nowMs - minuteMs)

/** What a poll may leave out, in words for the view; undefined if it leaves out nothing. */
function omission(isCut: boolean, hasMore: boolean): string | undefined {
  if (hasMore) return `Live: only the newest ${pollRowsMax}, filter to see all`
  if (isCut)
    return `Live: without events that arrived ${overlapMsMax / minuteMs} min ago or earlier`
  return undefined
}

/** `GET /live`, and `GET /live/rows` for its script. */
export function liveRoutes({ reader, state, cachedBriefly, view }: ViewContext): void {
  view('/live', async ({ query, header, reply }) => {
    reply.header('content-security-policy', liveSecurityPolicy)
    const search = readSearch(query, 'logs')
    const minuteSteps = lastHalfHour(header.nowMs)
    const [rows, minutes, refusals, names] = await Promise.all([
      readLatestArrivals(reader, search, header.nowMs),
      cachedBriefly('live minutes', () => readArrivals(reader, minuteSteps)),
      cachedBriefly('live refusals', () =>
        readKeyOutcomes(reader, minuteSteps, { onlyRefused: true }),
      ),
      state.keyNames(),
    ])
    const frequent = countNames(rows.filter((row) => arrivedMs(row) >= header.nowMs - minuteMs))
    const sinceMs = nextSince(header)
    return liveView({
      header,
      search,
      data: { rows, sinceMs, minutes, minuteSteps, refusals, names, frequent },
    })
  })

  view('/live/rows', async ({ query, header, reply }) => {
    const search = readSearch(query, 'logs')
    const sinceMs = Number(query.get('since'))
    if (!Number.isSafeInteger(sinceMs))
      throw new PageError(400, 'since must be a time in milliseconds.')
    const from = Math.min(header.nowMs, Math.max(sinceMs, header.nowMs - overlapMsMax))
    const reading = cachedBriefly(`live rows ${printSearch(search)} ${from}`, () =>
      pollArrivals(reader, search, from),
    )
    const found = await unlessClickHouseFails(reading)
    if (found === undefined) reply.code(503)
    else {
      reply.header('x-since', String(nextSince(header)))
      const omitted = omission(from > sinceMs, found.hasMore)
      if (omitted !== undefined) reply.header('x-state', omitted)
    }
    // Sends the freshness for the header too, because the tab may be open for hours. It matters
    // most while ClickHouse does not respond.
    return html`${freshnessOf(header, 'logs')}${found?.rows.map((row) => eventRow(row, header.nowMs))}`
  })
}

function lastHalfHour(nowMs: number) {
  const { to, stepMs } = stepsOf('1h', nowMs)
  return { from: to - 30 * stepMs, to, stepMs }
}
