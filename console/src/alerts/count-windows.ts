import type { Alert } from '@intake/access'
import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs, importKeyId, minuteMs } from '@intake/contract'
import { ageDays } from '@intake/records'

export type Reader = Pick<ClickHouse, 'query'>
/** Alerts of one application, at least one. */
export type SomeAlerts = readonly Alert[]

/** A window of an application. */
export type Window = Pick<Alert, 'bundle' | 'minutes'>

export const ofBundle = 'bundle_identifier = {bundle:String}'

/** SQL for what arrived in the window of `windowParams`; the time prunes partitions. */
export const arrivedInWindow = `${ofBundle}
  AND time >= {oldest:DateTime64(3, 'UTC')}
  AND received_at >= {from:DateTime64(3, 'UTC')} AND received_at < {to:DateTime64(3, 'UTC')}`

/** SQL for whether an operator has imported an event: that is no news. */
export const isImported = `(api_key_id = '${importKeyId}')`

export function windowParams({ bundle, minutes }: Window, toMs: number): Record<string, string> {
  const fromMs = toMs - minutes * minuteMs
  return {
    bundle,
    oldest: sqlTime(new Date(fromMs - ageDays('logs') * dayMs)),
    from: sqlTime(new Date(fromMs)),
    to: sqlTime(new Date(toMs)),
  }
}

export const querySettings = 'SETTINGS max_threads = 2, max_execution_time = 10'

const ofVersion = ({ versionName }: Alert, index: number) =>
  versionName === ''
    ? '1'
    : `ifNull(device_version_name, '') = {versions:Array(String)}[${index + 1}]`

/** SQL for whether an event is one that the alert with this index asks for (`askedParams`). */
const isAsked = (alert: Alert, index: number): string =>
  `event = {events:Array(String)}[${index + 1}] AND ${ofVersion(alert, index)}`

const askedParams = (alerts: SomeAlerts) => ({
  events: alerts.map(({ event }) => event),
  versions: alerts.map(({ versionName }) => versionName),
})

/** SQL for the number of events, sampled ones by their rate. */
const countIf = (condition: string): string => `sumIf(1 / sample_rate, ${condition})`

/**
 * Counts what each alert asks for in its window: events, or the percentage of the devices (of the
 * version, if one is named) that sent the event; 0 of no devices. Sampled events count by their rate.
 */
export async function countWindows(
  reader: Reader,
  alerts: SomeAlerts,
  toMs: number,
): Promise<Map<string, number>> {
  const columns = alerts.map((alert, index) => {
    const inWindow = `received_at >= {to:DateTime64(3, 'UTC')} - toIntervalMinute(${alert.minutes})`
    const asked = `${isAsked(alert, index)} AND ${inWindow}`
    const all = `uniqCombined64If(device_uuid, ${ofVersion(alert, index)} AND ${inWindow})`
    return alert.unit === 'events'
      ? countIf(asked)
      : `least(100, ifNotFinite(
          100 * uniqCombined64If(device_uuid, ${asked}) / avgIf(sample_rate, ${asked}) / ${all}, 0))`
  })
  const isShare = alerts.some(({ unit }) => unit === 'percent')
  const { bundle } = alerts[0]!
  const minutes = Math.max(...alerts.map((alert) => alert.minutes))
  const [row] = await reader.query<{ numbers: number[] }>(
    `SELECT [${columns.join(', ')}] AS numbers FROM intake.logs_flat
     WHERE ${arrivedInWindow} AND NOT ${isImported} ${isShare ? '' : 'AND event IN {events:Array(String)}'} ${querySettings}`,
    { ...windowParams({ bundle, minutes }, toMs), ...askedParams(alerts) },
  )
  return new Map(alerts.map(({ id }, index) => [id, row!.numbers[index]!]))
}

/** Whether the application sent events with one of the API keys in the last day. */
export async function hasSentWith(
  reader: Reader,
  { bundle, apiKeyIds }: { bundle: string; apiKeyIds: readonly string[] },
  toMs: number,
): Promise<boolean> {
  const rows = await reader.query(
    `SELECT 1 FROM intake.logs
     WHERE ${arrivedInWindow} AND api_key_id IN {keys:Array(String)} LIMIT 1 ${querySettings}`,
    { ...windowParams({ bundle, minutes: dayMs / minuteMs }, toMs), keys: apiKeyIds },
  )
  return rows.length > 0
}

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
