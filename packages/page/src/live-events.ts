import { isoTime, sqlTime } from '@intake/clickhouse'
import { conditionsOf, summaries } from './list-records.ts'
import { querySettings, type EventSummary, type RecordReader } from './records.ts'
import type { Search } from './search.ts'

const minuteMs = 60_000
/**
 * How far back the first rows are searched. A longer window is tried only if the one before did not
 * give enough rows.
 */
const windowsMs = [10 * minuteMs, 24 * 60 * minuteMs, 11 * 24 * 60 * minuteMs]
const firstRowsMax = 50
/** A poll returns at most this many rows, the newest, because the view keeps no more. */
export const pollRowsMax = 200

/** Reads the events that arrived last, newest first, including those that happened long ago. */
export async function readLatestArrivals(
  reader: RecordReader,
  search: Search,
  nowMs: number,
): Promise<EventSummary[]> {
  for (const windowMs of windowsMs) {
    const rows = await readArrivedSince(reader, search, {
      sinceMs: nowMs - windowMs,
      rowsMax: firstRowsMax,
    })
    if (rows.length >= firstRowsMax || windowMs === windowsMs.at(-1)) return rows
  }
  return []
}

/**
 * Reads the events that arrived since `sinceMs`, or the newest `pollRowsMax` of them, newest first.
 * Events may become visible in a different order than they arrived, so each poll reads a part of
 * the time again; the script drops the events that it has already shown.
 */
export async function pollArrivals(
  reader: RecordReader,
  search: Search,
  sinceMs: number,
): Promise<{ rows: EventSummary[]; hasMore: boolean }> {
  const rows = await readArrivedSince(reader, search, { sinceMs, rowsMax: pollRowsMax + 1 })
  return { rows: rows.slice(0, pollRowsMax), hasMore: rows.length > pollRowsMax }
}

async function readArrivedSince(
  reader: RecordReader,
  search: Search,
  { sinceMs, rowsMax }: { sinceMs: number; rowsMax: number },
): Promise<EventSummary[]> {
  const { after: _, from: __, to: ___, ...filter } = search
  const { conditions, params } = conditionsOf(filter)
  return reader.query<EventSummary>(
    `SELECT ${summaries.logs} FROM intake.logs
     WHERE ${["received_at >= {since:DateTime64(3, 'UTC')}", ...conditions].join(' AND ')}
     ORDER BY received_at DESC, id DESC LIMIT ${rowsMax} ${querySettings}`,
    { ...params, since: sqlTime(new Date(sinceMs)) },
  )
}

/** Counts the events by name. Returns the eight most frequent names, most frequent first. */
export function countNames(rows: readonly EventSummary[]): { name: string; count: number }[] {
  const counts = new Map<string, number>()
  for (const { event } of rows) counts.set(event, (counts.get(event) ?? 0) + 1)
  return [...counts]
    .map(([name, count]) => ({ name, count }))
    .toSorted((one, other) => other.count - one.count)
    .slice(0, 8)
}

/** The time at which a row arrived, in ms since 1970. */
export const arrivedMs = (row: Pick<EventSummary, 'received_at'>): number =>
  Date.parse(isoTime(row.received_at))
