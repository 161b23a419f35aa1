import { dayMs, limits } from '@intake/contract'
import { readLongRows, summaries, whereOf } from './list-records.ts'
import type { NameCount } from './read-counts.ts'
import type { TimeWindow } from './period.ts'
import { readInWindows } from './read-in-windows.ts'
import { type EventSummary, type RecordReader } from './records.ts'
import { withoutPeriod, type Search } from './search.ts'

const firstRowsMax = 50
const firstDaysMax = 11
/** A poll returns at most this many rows: the newest ones, because the view keeps no more. */
export const pollRowsMax = 200

/** The clocks of gateways may be ahead, so the window ends after the present. */
const since = (fromMs: number, nowMs: number): TimeWindow => ({
  from: fromMs,
  to: nowMs + limits.eventAheadMs,
})

/** Reads the events that arrived last, newest first, including those that happened long ago. */
export async function readLatestArrivals(
  reader: RecordReader,
  search: Search,
  nowMs: number,
): Promise<EventSummary[]> {
  const { rows } = await readInWindows({
    within: since(nowMs - firstDaysMax * dayMs, nowMs),
    rowsMax: firstRowsMax,
    read: (window, rowsMax) => readArrived(reader, search, { window, rowsMax }),
  })
  return rows
}

/**
 * Reads what arrived since `sinceMs`, newest first. Events may become visible in another order than
 * they arrived, so the periods of two polls overlap: the script drops what it has shown.
 */
export async function pollArrivals(
  reader: RecordReader,
  search: Search,
  { sinceMs, nowMs }: { sinceMs: number; nowMs: number },
): Promise<{ rows: EventSummary[]; hasMore: boolean }> {
  const window = since(sinceMs, nowMs)
  const rows = await readArrived(reader, search, { window, rowsMax: pollRowsMax + 1 })
  return { rows: rows.slice(0, pollRowsMax), hasMore: rows.length > pollRowsMax }
}

function readArrived(
  reader: RecordReader,
  search: Search,
  { window, rowsMax }: { window: TimeWindow; rowsMax: number },
): Promise<EventSummary[]> {
  const chosen = whereOf(withoutPeriod(search), window, 'received_at')
  const orderBy = 'received_at DESC, time DESC, id DESC'
  return readLongRows(reader, 'logs', { ...chosen, columns: summaries.logs, orderBy, rowsMax })
}

export function readFrequentArrivals(reader: RecordReader, search: Search, nowMs: number) {
  const window = since(nowMs - 60_000, nowMs)
  const { where, params } = whereOf(withoutPeriod(search), window, 'received_at')
  return reader.query<NameCount>(
    `SELECT event AS name, count() AS count FROM intake.logs WHERE ${where}
     GROUP BY event ORDER BY count DESC, event LIMIT 8`,
    params,
  )
}
