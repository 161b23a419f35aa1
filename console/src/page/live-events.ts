import { sqlTime } from '@intake/clickhouse'
import { conditionsOf, summaries } from './list-records.ts'
import type { NameCount } from './read-counts.ts'
import { querySettings, type EventSummary, type RecordReader } from './records.ts'
import { withoutPeriod, type Search } from './search.ts'

const minuteMs = 60_000
/**
 * How far back the view looks for its first rows. If one window has too few rows, the next one is
 * tried, which is longer.
 */
const windowsMs = [10 * minuteMs, 24 * 60 * minuteMs, 11 * 24 * 60 * minuteMs]
const firstRowsMax = 50
/** A poll returns at most this many rows: the newest ones, because the view keeps no more. */
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
 * Reads the events that arrived since `sinceMs`, newest first. If there are more than
 * `pollRowsMax`, reads only the newest. Events may become visible in a different order than they
 * arrived, so the periods of two polls overlap. The script of the view drops the events that it has
 * already shown.
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
  const { conditions, params } = conditionsOf(withoutPeriod(search))
  return reader.query<EventSummary>(
    `SELECT ${summaries.logs} FROM intake.logs
     WHERE ${["received_at >= {since:DateTime64(3, 'UTC')}", ...conditions].join(' AND ')}
     ORDER BY received_at DESC, time DESC, id DESC LIMIT ${rowsMax} ${querySettings}`,
    { ...params, since: sqlTime(new Date(sinceMs)) },
  )
}

/** Reads the eight most frequent names of the events that arrived in the last minute. */
export function readFrequentArrivals(
  reader: RecordReader,
  search: Search,
  nowMs: number,
): Promise<NameCount[]> {
  const { conditions, params } = conditionsOf(withoutPeriod(search))
  return reader.query<NameCount>(
    `SELECT event AS name, count() AS count FROM intake.logs
     WHERE ${["received_at >= {since:DateTime64(3, 'UTC')}", ...conditions].join(' AND ')}
     GROUP BY event ORDER BY count DESC, event LIMIT 8 ${querySettings}`,
    { ...params, since: sqlTime(new Date(nowMs - minuteMs)) },
  )
}
