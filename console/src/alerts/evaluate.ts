import type { Alert } from '@intake/access'
import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { errorCatalogue } from '@intake/contract'
import {
  countDeviceShares,
  countEvents,
  createKnownCrashes,
  createUsualCounts,
} from '@intake/records'
import { countApart } from './count-apart.ts'
import { judge, type AlertState, type Found } from './judge.ts'

export interface Evaluated {
  alert: Alert
  state: AlertState
  found: Found
}

/** The time in ClickHouse, and how complete what it shows is. */
export interface Situation {
  nowMs: number
  /** Everything that arrived before is visible; undefined if that is not known. */
  visibleUntilMs: number | undefined
  /** The last minute in which a gateway refused log events that can succeed later. */
  refusedAtMs: number | undefined
}

/** The watermark is some 15 seconds behind while all is well. */
const behindMs = 2 * 60_000
/** Clients have sent again by then what was refused. */
const refusedMs = 15 * 60_000
const refusals = Object.entries(errorCatalogue)
  .filter(([, { status, retryable }]) => retryable && status >= 500)
  .map(([code]) => code)

export async function readSituation(reader: Pick<ClickHouse, 'query'>): Promise<Situation> {
  const [row] = await reader.query<Record<'now' | 'until' | 'refused', string | null>>(
    `SELECT now64(3, 'UTC') AS now,
       (SELECT maxOrNull(visible_until) FROM intake.watermark WHERE kind = 'logs') AS until,
       (SELECT maxOrNull(minute) FROM intake.outcomes
        WHERE minute >= now64(3, 'UTC') - toIntervalMillisecond(${refusedMs}) AND kind IN ('logs', '')
          AND code IN {refusals:Array(String)}) AS refused`,
    { refusals },
  )
  const ms = (time: string | null | undefined) =>
    time == null ? undefined : Date.parse(isoTime(time))
  return {
    nowMs: ms(row?.now) ?? Date.now(),
    visibleUntilMs: ms(row?.until),
    refusedAtMs: ms(row?.refused),
  }
}

/**
 * Creates the function that evaluates alerts. Their windows end at the watermark, so that nothing
 * is missing in them, or at the present while the watermark is behind.
 *
 * @param options.onError called when some alerts could not be counted; they are then unknown
 */
export function createEvaluation(options: {
  reader: Pick<ClickHouse, 'query'>
  onError: (error: unknown) => void
}): (alerts: readonly Alert[], situation: Situation) => Promise<Evaluated[]> {
  const { reader, onError } = options
  const usualCounts = createUsualCounts(reader)
  const knownCrashes = createKnownCrashes(reader)

  const apart = { onError, ping: () => reader.query('SELECT 1') }
  const ofAll = {
    events: countApart<number>((some, toMs) => countEvents(reader, some, toMs), apart),
    shares: countApart<number>((some, toMs) => countDeviceShares(reader, some, toMs), apart),
    usual: countApart<number>((some, toMs) => usualCounts.at(some, toMs), apart),
    crashes: countApart<Found>(async (some, toMs) => {
      const found = new Map<string, Found>()
      for (const alert of some) {
        const { crashes, example } = await knownCrashes.newIn(alert, toMs)
        found.set(alert.id, { value: crashes, detail: example })
      }
      return found
    }, apart),
  }

  return async (alerts, { nowMs, visibleUntilMs, refusedAtMs }) => {
    const isBehind = visibleUntilMs === undefined || nowMs - visibleUntilMs > behindMs
    const toMs = isBehind ? nowMs : visibleUntilMs
    const ofCrashes = alerts.filter(({ condition }) => condition === 'new-crash')
    const ofShares = alerts.filter(({ unit }) => unit === 'percent')
    const ofEvents = alerts.filter((one) => !ofCrashes.includes(one) && !ofShares.includes(one))
    const ofTimes = alerts.filter(({ condition }) => condition === 'times')
    const times = { toMs, nowMs }
    const events = await ofAll.events(ofEvents, times)
    const shares = await ofAll.shares(ofShares, times)
    const usual = await ofAll.usual(ofTimes, times)
    const crashes = await ofAll.crashes(ofCrashes, times)
    const circumstances = { isBehind, wasRefusing: refusedAtMs !== undefined }
    return alerts.map((alert) => {
      const { id } = alert
      const found = crashes.get(id) ?? {
        value: events.get(id) ?? shares.get(id),
        usual: usual.get(id),
      }
      return { alert, found, state: judge(alert, found, circumstances) }
    })
  }
}
