import { isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import {
  askedEvent,
  askedVersion,
  divide,
  minutesInMs,
  querySettings,
  questionParams,
  type EventQuestion,
} from './question.ts'

const hourMs = 60 * 60_000
const daysMax = 7
/** With fewer days on which the application sent anything at this time, nothing is usual. */
const daysMin = 3
/** The hours that one call counts for a question. Those of a long window are counted by and by. */
const hoursMax = 24

export interface UsualCounts {
  /**
   * Resolves to what is usual for each question in a window that ends at this time of the day: the
   * median of the last seven days, without days on which the application sent nothing then. A
   * question is absent while that is not known. Counts each hour once.
   */
  at(questions: readonly EventQuestion[], toMs: number): Promise<Map<string, number>>
}

interface HourCount {
  /** Events that the question asks for, sampled ones by their rate. */
  events: number
  /** Events of any name. */
  all: number
}

interface Row {
  bundle_identifier: string
  hour: string
  named: string
  version: string
  events: number
}

export function createUsualCounts(reader: Pick<ClickHouse, 'query'>): UsualCounts {
  const known = new Map<string, Map<number, HourCount>>()

  async function count(questions: readonly EventQuestion[], hours: readonly number[]) {
    const first = Math.min(...hours)
    const last = Math.max(...hours)
    const { applications, events, versions } = questionParams(questions, last)
    const rows = await reader.query<Row>(
      `SELECT bundle_identifier, toStartOfHour(time) AS hour, ${askedEvent} AS named,
         ${askedVersion(questions)} AS version, sum(1 / sample_rate) AS events
       FROM intake.logs
       WHERE bundle_identifier IN {applications:Array(String)}
         AND time >= {first:DateTime64(3, 'UTC')} AND time < {end:DateTime64(3, 'UTC')}
         AND toStartOfHour(time) IN {hours:Array(DateTime('UTC'))}
       GROUP BY bundle_identifier, hour, named, version ${querySettings}`,
      {
        applications,
        events,
        ...(versions !== undefined && { versions }),
        first: sqlTime(new Date(first)),
        end: sqlTime(new Date(last + hourMs)),
        hours: hours.map((hour) => sqlTime(new Date(hour)).slice(0, 19)),
      },
    )
    for (const { id, bundle, event, versionName } of questions) {
      const counts = known.get(id) ?? new Map<number, HourCount>()
      known.set(id, counts)
      for (const hour of hours) counts.set(hour, { events: 0, all: 0 })
      for (const row of rows) {
        if (row.bundle_identifier !== bundle) continue
        const one = counts.get(Date.parse(isoTime(row.hour)))
        if (one === undefined) continue
        one.all += row.events
        const isAsked = row.named === event && (versionName === '' || row.version === versionName)
        if (isAsked) one.events += row.events
      }
    }
  }

  return {
    async at(questions, toMs) {
      for (const [id, counts] of known) {
        for (const hour of counts.keys()) {
          if (hour < toMs - (daysMax + 2) * dayMs) counts.delete(hour)
        }
        if (counts.size === 0) known.delete(id)
      }
      for (const some of divide(questions)) {
        const missing = new Set(
          some.flatMap(({ id, minutes }) =>
            windowsBefore(minutes, toMs)
              .flatMap((window) => hoursOf(window))
              .filter((hour) => known.get(id)?.has(hour) !== true),
          ),
        )
        const hours = [...missing].toSorted((a, b) => b - a).slice(0, hoursMax)
        if (hours.length > 0) await count(some, hours)
      }
      return new Map(
        questions.flatMap(({ id, minutes }) => {
          const usual = usualOf(known.get(id), windowsBefore(minutes, toMs))
          return usual === undefined ? [] : [[id, usual] as const]
        }),
      )
    },
  }
}

interface Window {
  fromMs: number
  toMs: number
}

/** The same window on each of the days before. */
const windowsBefore = (minutes: number, toMs: number): Window[] =>
  Array.from({ length: daysMax }, (_, day) => {
    const end = toMs - (day + 1) * dayMs
    return { fromMs: end - minutesInMs(minutes), toMs: end }
  })

function hoursOf({ fromMs, toMs }: Window): number[] {
  const hours: number[] = []
  for (let hour = fromMs - (fromMs % hourMs); hour < toMs; hour += hourMs) hours.push(hour)
  return hours
}

function usualOf(
  counts: ReadonlyMap<number, HourCount> | undefined,
  windows: readonly Window[],
): number | undefined {
  const days: number[] = []
  for (const window of windows) {
    let events = 0
    let all = 0
    for (const hour of hoursOf(window)) {
      const one = counts?.get(hour)
      if (one === undefined) return undefined
      const overlapMs = Math.min(window.toMs, hour + hourMs) - Math.max(window.fromMs, hour)
      events += (one.events * overlapMs) / hourMs
      all += one.all
    }
    if (all > 0) days.push(events)
  }
  if (days.length < daysMin) return undefined
  const sorted = days.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}
