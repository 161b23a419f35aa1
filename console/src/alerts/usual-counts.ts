import { sqlTime } from '@intake/clickhouse'
import { dayMs, minuteMs } from '@intake/contract'
import {
  askedParams,
  countIf,
  isAsked,
  ofBundle,
  querySettings,
  type Reader,
  type SomeAlerts,
} from './count-windows.ts'

const days = [1, 2, 3, 4, 5, 6, 7]
/** With fewer days on which the application sent anything at this time, nothing is usual. */
const daysMin = 3
const to = "{to:DateTime64(3, 'UTC')}"
const ageMs = `(toUnixTimestamp64Milli(${to}) - toUnixTimestamp64Milli(time))`

/**
 * Counts what is usual for each alert in a window that ends at this time of the day: the median of
 * the last seven days, without days on which the application sent nothing then. An alert is absent
 * while that is not known.
 */
export async function countUsual(
  reader: Reader,
  alerts: SomeAlerts,
  toMs: number,
): Promise<Map<string, number>> {
  const longest = Math.max(...alerts.map(({ minutes }) => minutes))
  const isIn = ({ minutes }: (typeof alerts)[number]) =>
    `${ageMs} % ${dayMs} < ${minutes * minuteMs}`
  const windows = days.map(
    (day) => `time > ${to} - toIntervalMinute(${day * 24 * 60 + longest})
      AND time <= ${to} - toIntervalDay(${day})`,
  )
  const rows = await reader.query<{ numbers: number[]; all: number[] }>(
    `SELECT [${alerts.map((alert, index) => countIf(`${isAsked(alert, index)} AND ${isIn(alert)}`)).join(', ')}] AS numbers,
       [${alerts.map((alert) => `countIf(${isIn(alert)})`).join(', ')}] AS all
     FROM intake.logs_flat WHERE ${ofBundle} AND (${windows.join(' OR ')})
     GROUP BY intDiv(${ageMs}, ${dayMs}) ${querySettings}`,
    { bundle: alerts[0]!.bundle, ...askedParams(alerts), to: sqlTime(new Date(toMs)) },
  )
  const usual = new Map<string, number>()
  for (const [index, { id }] of alerts.entries()) {
    const counts = rows.filter(({ all }) => all[index]! > 0).map(({ numbers }) => numbers[index]!)
    if (counts.length >= daysMin) usual.set(id, median(counts))
  }
  return usual
}

function median(counts: readonly number[]): number {
  const sorted = counts.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}
