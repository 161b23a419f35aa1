import type { ClickHouse } from '@intake/clickhouse'
import {
  arrivedInWindow,
  askedEvent,
  askedVersion,
  divide,
  minutesInMs,
  querySettings,
  questionParams,
  type EventQuestion,
} from './question.ts'

export type { EventQuestion }

interface Row {
  bundle_identifier: string
  named: string
  version: string
  /** The place of the shortest window that the events are in, from 1. */
  place: number
  events: number
}

/**
 * Counts the events that arrived in each window, sampled ones by their rate. One statement counts
 * for up to a hundred questions.
 *
 * @param toMs the end of all windows, in milliseconds since 1970
 * @returns the count of each question, by its id
 */
export async function countEvents(
  reader: Pick<ClickHouse, 'query'>,
  questions: readonly EventQuestion[],
  toMs: number,
): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const some of divide(questions)) {
    const windows = [...new Set(some.map(({ minutes }) => minutes))].toSorted((a, b) => a - b)
    const rows = await reader.query<Row>(
      `SELECT bundle_identifier, ${askedEvent} AS named, ${askedVersion(some)} AS version,
         arrayFirstIndex(one -> one > dateDiff('millisecond', received_at, {to:DateTime64(3, 'UTC')}) - 1,
           {windows:Array(UInt32)}) AS place,
         sum(1 / sample_rate) AS events
       FROM intake.logs
       WHERE ${arrivedInWindow} AND event IN {events:Array(String)}
       GROUP BY bundle_identifier, named, version, place ${querySettings}`,
      { ...questionParams(some, toMs), windows: windows.map((minutes) => minutesInMs(minutes)) },
    )
    for (const { id, bundle, event, versionName, minutes } of some) {
      const isAsked = (row: Row) =>
        row.bundle_identifier === bundle &&
        row.named === event &&
        (versionName === '' || row.version === versionName) &&
        row.place <= windows.indexOf(minutes) + 1
      counts.set(
        id,
        rows.filter(isAsked).reduce((sum, { events }) => sum + events, 0),
      )
    }
  }
  return counts
}
