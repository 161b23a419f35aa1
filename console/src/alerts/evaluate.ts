import type { Alert } from '@intake/access'
import { isoTime, type ClickHouse } from '@intake/clickhouse'
import { errorCatalogue } from '@intake/contract'
import {
  countDeviceShares,
  countEvents,
  createKnownCrashes,
  createUsualCounts,
  findSenders,
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
  /**
   * The ids of the API keys with which gateways have lately refused log events that can succeed
   * later; empty for requests that were refused before their key was read.
   */
  refusedKeys: readonly string[]
}

/** The watermark is some 15 seconds behind while all is well. */
const behindMs = 2 * 60_000
/** Clients have sent again by then what was refused. */
const refusedMs = 15 * 60_000
const refusals = Object.entries(errorCatalogue)
  .filter(([, { status, retryable }]) => retryable && status >= 500)
  .map(([code]) => code)

export async function readSituation(reader: Pick<ClickHouse, 'query'>): Promise<Situation> {
  const [row] = await reader.query<Record<'now' | 'until', string | null> & { refused: string[] }>(
    `SELECT now64(3, 'UTC') AS now,
       (SELECT maxOrNull(visible_until) FROM intake.watermark WHERE kind = 'logs') AS until,
       (SELECT groupUniqArray(api_key_id) FROM intake.outcomes
        WHERE minute >= now64(3, 'UTC') - toIntervalMillisecond(${refusedMs}) AND kind IN ('logs', '')
          AND code IN {refusals:Array(String)}) AS refused`,
    { refusals },
  )
  const ms = (time: string | null | undefined) =>
    time == null ? undefined : Date.parse(isoTime(time))
  return {
    nowMs: ms(row?.now) ?? Date.now(),
    visibleUntilMs: ms(row?.until),
    refusedKeys: row?.refused ?? [],
  }
}

/**
 * Returns which of the applications may lack events that gateways refused. Refusals with the keys
 * of others do not count: with them, one sender could hide that another is silent.
 */
async function findRefused(
  reader: Pick<ClickHouse, 'query'>,
  bundles: readonly string[],
  { refusedKeys: apiKeyIds, nowMs }: Situation,
): Promise<ReadonlySet<string>> {
  if (bundles.length === 0 || apiKeyIds.length === 0) return new Set()
  if (apiKeyIds.includes('')) return new Set(bundles)
  return findSenders(reader, { bundles, apiKeyIds }, nowMs)
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

  return async (alerts, situation) => {
    const { nowMs, visibleUntilMs } = situation
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
    const valueOf = ({ id }: Alert) => events.get(id) ?? shares.get(id)
    const silent = alerts.filter(
      (one) => one.condition === 'below' && (valueOf(one) ?? Infinity) < one.threshold,
    )
    const bundles = silent.map(({ bundle }) => bundle)
    const refused = await findRefused(reader, bundles, situation).catch((error: unknown) => {
      onError(error)
      return new Set(bundles)
    })
    return alerts.map((alert) => {
      const { id, bundle } = alert
      const found = crashes.get(id) ?? { value: valueOf(alert), usual: usual.get(id) }
      const circumstances = { isBehind, wasRefusing: refused.has(bundle) }
      return { alert, found, state: judge(alert, found, circumstances) }
    })
  }
}
