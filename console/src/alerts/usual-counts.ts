import { isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import {
  askedParams,
  countIf,
  isAsked,
  minuteMs,
  querySettings,
  type SomeAlerts,
} from './count-windows.ts'

const hourMs = 60 * minuteMs
const daysMax = 7
/** With fewer days on which the application sent anything at this time, nothing is usual. */
const daysMin = 3
/** The hours that one call counts. Those of a long window are counted by and by. */
const hoursMax = 24

interface HourCount {
  /** Events that the alert asks for, sampled ones by their rate. */
  events: number
  /** Whether the application sent any event. */
  isAny: boolean
}

/**
 * Creates a function that resolves to what is usual for each alert in a window that ends at this
 * time of the day: the median of the last seven days, without days on which the application sent
 * nothing then. An alert is absent while that is not known. Each hour is counted once.
 */
export function createUsualCounts(reader: Pick<ClickHouse, 'query'>) {
  const known = new Map<string, Map<number, HourCount>>()

  async function count(alerts: SomeAlerts, hours: readonly number[]): Promise<void> {
    const last = Math.max(...hours)
    const rows = await reader.query<{ hour: string; numbers: number[] }>(
      `SELECT toStartOfHour(time) AS hour,
         [${alerts.map((alert, index) => countIf(isAsked(alert, index))).join(', ')}] AS numbers
       FROM intake.logs
       WHERE bundle_identifier = {bundle:String}
         AND time >= {first:DateTime64(3, 'UTC')} AND time < {end:DateTime64(3, 'UTC')}
         AND toStartOfHour(time) IN {hours:Array(DateTime('UTC'))}
       GROUP BY hour ${querySettings}`,
      {
        bundle: alerts[0]!.bundle,
        ...askedParams(alerts),
        first: sqlTime(new Date(Math.min(...hours))),
        end: sqlTime(new Date(last + hourMs)),
        hours: hours.map((hour) => sqlTime(new Date(hour)).slice(0, 19)),
      },
    )
    const found = new Map(rows.map(({ hour, numbers }) => [Date.parse(isoTime(hour)), numbers]))
    for (const [index, { id }] of alerts.entries()) {
      const counts = known.get(id) ?? new Map<number, HourCount>()
      known.set(id, counts)
      for (const hour of hours) {
        const numbers = found.get(hour)
        counts.set(hour, { events: numbers?.[index] ?? 0, isAny: numbers !== undefined })
      }
    }
  }

  return async (alerts: SomeAlerts, toMs: number): Promise<Map<string, number>> => {
    for (const [id, counts] of known) {
      for (const hour of counts.keys()) {
        if (hour < toMs - (daysMax + 2) * dayMs) counts.delete(hour)
      }
      if (counts.size === 0) known.delete(id)
    }
    const missing = alerts.flatMap(({ id, minutes }) =>
      windowsBefore(minutes, toMs)
        .flatMap((window) => hoursOf(window))
        .filter((hour) => known.get(id)?.has(hour) !== true),
    )
    const hours = [...new Set(missing)].toSorted((a, b) => b - a).slice(0, hoursMax)
    if (hours.length > 0) await count(alerts, hours)
    return new Map(
      alerts.flatMap(({ id, minutes }) => {
        const usual = usualOf(known.get(id), windowsBefore(minutes, toMs))
        return usual === undefined ? [] : [[id, usual] as const]
      }),
    )
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
    return { fromMs: end - minutes * minuteMs, toMs: end }
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
    let isAny = false
    for (const hour of hoursOf(window)) {
      const one = counts?.get(hour)
      if (one === undefined) return undefined
      const overlapMs = Math.min(window.toMs, hour + hourMs) - Math.max(window.fromMs, hour)
      events += (one.events * overlapMs) / hourMs
      isAny ||= one.isAny
    }
    if (isAny) days.push(events)
  }
  if (days.length < daysMin) return undefined
  const sorted = days.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}
