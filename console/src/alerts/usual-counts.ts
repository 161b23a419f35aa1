import { isoTime, sqlTime } from '@intake/clickhouse'
import { dayMs, hourMs, minuteMs } from '@intake/contract'
import {
  askedParams,
  countIf,
  isAsked,
  ofBundle,
  querySettings,
  type Reader,
  type SomeAlerts,
} from './count-windows.ts'

const daysMax = 7
/** With fewer days on which the application sent anything at this time, nothing is usual. */
const daysMin = 3
/** The hours that one call counts. Those of a long window are counted by and by. */
const hoursMax = 24

/**
 * Creates a function that resolves to what is usual for each alert in a window that ends at this
 * time of the day: the median of the last seven days, without days on which the application sent
 * nothing then. An alert is absent while that is not known. Each hour is counted once.
 */
export function createUsualCounts(reader: Reader) {
  /**
   * By hour, then by the id of the alert: the events that it asks for, sampled ones by their rate;
   * undefined if the application sent nothing.
   */
  const known = new Map<number, Map<string, number | undefined>>()

  async function count(alerts: SomeAlerts, hours: readonly number[]): Promise<void> {
    const rows = await reader.query<{ hour: string; numbers: number[] }>(
      `SELECT toStartOfHour(time) AS hour,
         [${alerts.map((alert, index) => countIf(isAsked(alert, index))).join(', ')}] AS numbers
       FROM intake.logs_flat
       WHERE ${ofBundle}
         AND time >= {first:DateTime64(3, 'UTC')} AND time < {end:DateTime64(3, 'UTC')}
         AND toStartOfHour(time) IN {hours:Array(DateTime('UTC'))}
       GROUP BY hour ${querySettings}`,
      {
        bundle: alerts[0]!.bundle,
        ...askedParams(alerts),
        first: sqlTime(new Date(Math.min(...hours))),
        end: sqlTime(new Date(Math.max(...hours) + hourMs)),
        hours: hours.map((hour) => sqlTime(new Date(hour)).slice(0, 19)),
      },
    )
    const found = new Map(rows.map(({ hour, numbers }) => [Date.parse(isoTime(hour)), numbers]))
    for (const hour of hours) {
      const counts = known.get(hour) ?? new Map<string, number | undefined>()
      known.set(hour, counts)
      for (const [index, { id }] of alerts.entries()) counts.set(id, found.get(hour)?.[index])
    }
  }

  /** The events of a window; undefined if the application sent nothing in it. */
  function countIn(id: string, parts: readonly HourPart[]): number | undefined {
    const counts = parts.map(({ hour, ms }) => ({ events: known.get(hour)?.get(id), ms }))
    if (counts.every(({ events }) => events === undefined)) return undefined
    // Divided last: 300 events an hour are exactly 55 in eleven minutes.
    return counts.reduce((sum, { events = 0, ms }) => sum + events * ms, 0) / hourMs
  }

  return async (alerts: SomeAlerts, toMs: number): Promise<Map<string, number>> => {
    for (const hour of known.keys()) if (hour < toMs - (daysMax + 2) * dayMs) known.delete(hour)
    const asked = alerts.map(({ id, minutes }) => ({ id, days: daysBefore(minutes, toMs) }))
    const uncounted = ({ id, days }: (typeof asked)[number]) =>
      days.flat().filter(({ hour }) => known.get(hour)?.has(id) !== true)
    const missing = new Set(asked.flatMap(uncounted).map(({ hour }) => hour))
    const hours = [...missing].toSorted((a, b) => b - a).slice(0, hoursMax)
    if (hours.length > 0) await count(alerts, hours)
    const usual = new Map<string, number>()
    for (const one of asked) {
      if (uncounted(one).length > 0) continue
      const { id, days } = one
      const counts = days.map((parts) => countIn(id, parts)).filter((sum) => sum !== undefined)
      if (counts.length >= daysMin) usual.set(id, median(counts))
    }
    return usual
  }
}

interface HourPart {
  hour: number
  /** How much of the hour is in the window. */
  ms: number
}

/** The hours of the same window on each of the days before. */
const daysBefore = (minutes: number, toMs: number): HourPart[][] =>
  Array.from({ length: daysMax }, (_, day) => {
    const endMs = toMs - (day + 1) * dayMs
    const fromMs = endMs - minutes * minuteMs
    const parts: HourPart[] = []
    for (let hour = fromMs - (fromMs % hourMs); hour < endMs; hour += hourMs) {
      parts.push({ hour, ms: Math.min(endMs, hour + hourMs) - Math.max(fromMs, hour) })
    }
    return parts
  })

function median(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}
