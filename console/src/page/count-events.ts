import type { QueryParams } from '@intake/clickhouse'
import type { CountReader } from './count-reader.ts'
import { conditionsOf } from './list-records.ts'
import { inWindow, startsOf, stepOf, windowParams, type Steps } from './period.ts'
import type { TimeWindow } from './read-in-windows.ts'
import { querySettings, type RecordReader } from './records.ts'
import type { Search } from './search.ts'

const hourMs = 3_600_000
/** Stored counts are used only for hours that ended at least this long before they were counted. */
const uncountedMs = hourMs
/**
 * The longest period that is counted from the records themselves. There is no such limit for a
 * search for a user or a device, because the table has an index for each of them.
 */
const directMsMax = 24 * hourMs + 3 * hourMs

export interface EventCounts {
  points: { t: number; events: number }[]
  total: number
  /**
   * When workers counted the hours whose stored counts were used, in ms since 1970. Undefined if
   * all events were counted for this request.
   */
  countedAtMs: number | undefined
}

/**
 * Counts the matching events in each step, by the time they happened. If possible, older hours come
 * from the counts that workers store, and only the latest hours are counted from the records. This
 * is possible if the search is only by application, event and version, and the steps are whole
 * hours. Otherwise all hours are counted from the records.
 *
 * @param options.countedAtMs when the hours were last counted, in ms since 1970; undefined if never
 * @returns undefined if more than 27 hours would be counted from the records, and the search names
 * neither a user nor a device, unless few events are stored
 */
export async function countEvents(
  reader: CountReader,
  options: { search: Search; steps: Steps; countedAtMs: number | undefined },
): Promise<EventCounts | undefined> {
  const { search, steps, countedAtMs } = options
  const isCounted =
    !reader.isExact &&
    countedAtMs !== undefined &&
    (['user', 'device', 'key', 'paths'] as const).every((name) => search[name] === undefined) &&
    steps.stepMs % hourMs === 0
  const boundary = isCounted ? Math.floor((countedAtMs - uncountedMs) / hourMs) * hourMs : -Infinity
  const split = Math.min(steps.to, Math.max(steps.from, boundary))
  const isCheap = reader.isExact || search.user !== undefined || search.device !== undefined
  if (!isCheap && steps.to - split > directMsMax) return undefined
  const [counted, direct] = await Promise.all([
    split > steps.from ? readCounted(reader, search, steps, { from: steps.from, to: split }) : [],
    split < steps.to ? readDirect(reader, search, steps, { from: split, to: steps.to }) : [],
  ])
  const found = new Map<number, number>()
  for (const { at, events } of [...counted, ...direct]) found.set(at, (found.get(at) ?? 0) + events)
  const points = startsOf(steps).map((t) => ({ t, events: found.get(t / 1_000) ?? 0 }))
  return {
    points,
    total: points.reduce((sum, { events }) => sum + events, 0),
    countedAtMs: split > steps.from ? countedAtMs : undefined,
  }
}

interface StepCount {
  at: number
  events: number
}

const countedCondition = {
  application: 'bundle_identifier = {application:String}',
  event: 'event = {event:String}',
  version: 'version_name = {version:String}',
} as const

function readCounted(
  reader: RecordReader,
  search: Search,
  steps: Steps,
  window: TimeWindow,
): Promise<StepCount[]> {
  const names = (Object.keys(countedCondition) as (keyof typeof countedCondition)[]).filter(
    (name) => search[name] !== undefined,
  )
  const isNone = { version: "version_name = ''", event: "event = ''" } as const
  const params: QueryParams = Object.fromEntries(names.map((name) => [name, search[name]]))
  return reader.query<StepCount>(
    `SELECT ${stepOf('hour', steps)} AS at, sum(events) AS events FROM intake.hours
     WHERE ${[
       inWindow('hour'),
       ...names.map((name) => countedCondition[name]),
       ...(search.without === undefined ? [] : [isNone[search.without]]),
     ].join(' AND ')}
     GROUP BY at ${querySettings}`,
    { ...params, ...windowParams(window) },
  )
}

function readDirect(
  reader: RecordReader,
  search: Search,
  steps: Steps,
  window: TimeWindow,
): Promise<StepCount[]> {
  const { after: _, ...counted } = search
  const { conditions, params } = conditionsOf(counted)
  return reader.query<StepCount>(
    `SELECT ${stepOf('time', steps)} AS at, count() AS events FROM intake.logs
     WHERE ${[inWindow('time'), ...conditions].join(' AND ')}
     GROUP BY at ${querySettings}`,
    { ...params, ...windowParams(window) },
  )
}
