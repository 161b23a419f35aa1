import { dayMs, hourMs } from '@intake/contract'
import type { CountReader } from './count-reader.ts'
import { whereOf } from './list-records.ts'
import { readCountedAt } from './read-counts.ts'
import { seriesOf, startsOf, stepOf, type Steps } from './period.ts'
import type { Search } from './search.ts'

/** Stored counts are used only for hours that ended at least this long before they were counted. */
const uncountedMs = hourMs
/** The longest period that is counted from the records; users and devices have an index. */
const directMsMax = dayMs + 3 * hourMs

export type EventCounts = NonNullable<Awaited<ReturnType<typeof countEvents>>>

/**
 * Counts the matching events in each step, by the time they happened. In steps of whole hours, and
 * for a search by application, event and version only, older hours come from the stored counts.
 *
 * @returns undefined if more than 27 hours would be counted from the records, and the search names
 * neither a user nor a device, unless few events are stored
 */
export async function countEvents(
  counts: (recordsFromMs?: number) => Promise<CountReader>,
  search: Search,
  steps: Steps,
) {
  const stored = await counts()
  const { isExact } = stored
  const countedAtMs = isExact ? undefined : await readCountedAt(stored)
  const isCounted =
    countedAtMs !== undefined &&
    (['user', 'device', 'key', 'paths'] as const).every((name) => search[name] === undefined) &&
    steps.stepMs % hourMs === 0
  const boundary = isCounted ? Math.floor((countedAtMs - uncountedMs) / hourMs) * hourMs : -Infinity
  const split = Math.min(steps.to, Math.max(steps.from, boundary))
  const isCheap = isExact || search.user !== undefined || search.device !== undefined
  if (!isCheap && steps.to - split > directMsMax) return undefined
  const isStored = split > steps.from
  const reader = await counts(isStored ? split : undefined)
  // Stored counts get the columns of events that the conditions of the search name.
  const version = "CAST(tuple(version_name), 'Tuple(version_name String)') AS device"
  const source = isStored
    ? `(SELECT *, hour AS time, ${version} FROM ${reader.hours})`
    : '(SELECT *, 1 AS events FROM intake.logs)'
  const { where, params } = whereOf(search, steps)
  const rows = await reader.query<{ at: number; number: number }>(
    `SELECT ${stepOf('time', steps)} AS at, sum(events) AS number FROM ${source}
     WHERE ${where} GROUP BY at`,
    params,
  )
  const series = seriesOf(
    rows.map(({ at, number }) => [at, number]),
    steps,
  )
  return {
    points: startsOf(steps).map((t, index) => ({ t, events: series[index] ?? 0 })),
    total: series.reduce((sum, events) => sum + events, 0),
    /** In ms since 1970; undefined if all events were counted for this request. */
    countedAtMs: isStored ? countedAtMs : undefined,
  }
}
