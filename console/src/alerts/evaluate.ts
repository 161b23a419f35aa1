import type { Alert } from '@intake/access'
import { ClickHouseError, isoTime } from '@intake/clickhouse'
import { errorCatalogue } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'
import {
  byCondition,
  countWindows,
  divide,
  hasSentWith,
  type Reader,
  type SomeAlerts,
} from './count-windows.ts'
import { judge, type Evaluated } from './judge.ts'
import { createKnownCrashes } from './known-crashes.ts'
import { countUsual } from './usual-counts.ts'

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

export async function readSituation(reader: Reader): Promise<Situation> {
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

/** What failed is tried again at the next evaluation, then after twice the pause, up to this. */
const retryMs = { min: 30_000, max: 10 * 60_000 }

/** An alert is quick if its last evaluation took at most this, or if there was none. */
const quickMs = 500
/** A call begins with none that is slow after this time. */
const slowMsMax = 10_000
/** The pause after those, as a multiple of their duration: they take at most 1/6 of the time. */
const pausePerSlow = 5

/**
 * Creates the function that evaluates alerts. Their windows end at the watermark, so that nothing
 * is missing in them, or at the present while the watermark is behind. Each application is counted
 * alone. Alerts that are quick come first, and at each call; the applications of the others take
 * turns, within limits. So what an application sends delays no quick alert of another by more than
 * one evaluation.
 *
 * @param options.onError called when some alerts could not be counted; they are then unknown
 * @returns yields what can be stored at once; throws if ClickHouse is away
 */
export function createEvaluation(options: {
  reader: Reader
  onError: (error: unknown) => void
  clock?: Pick<Clock, 'now'>
}): (alerts: readonly Alert[], situation: Situation) => AsyncGenerator<Evaluated[]> {
  const { reader, clock = systemClock } = options
  const newCrashes = createKnownCrashes(reader)
  const attempt = createAttempt(options)
  /** The ids of alerts that are not quick. */
  const slow = new Set<string>()
  /** When the last slow evaluation of each application began. */
  const lasts = new Map<string, number>()
  let slowNotBefore = 0

  async function evaluate(
    alerts: SomeAlerts,
    { nowMs, visibleUntilMs, refusedKeys: apiKeyIds }: Situation,
  ): Promise<Evaluated[]> {
    const began = clock.now()
    const { bundle } = alerts[0]!
    const isBehind = visibleUntilMs === undefined || nowMs - visibleUntilMs > behindMs
    const toMs = isBehind ? nowMs : visibleUntilMs
    let hasFailed = false
    async function tried<Value>(what: string, those: SomeAlerts, count: () => Promise<Value>) {
      if (those.length === 0) return undefined
      const value = await attempt(`${what} ${bundle}`, clock.now(), count)
      hasFailed ||= value === undefined
      return value
    }
    const [ofEvents, ofCrashes] = byCondition(alerts)
    const ofTimes = alerts.filter(({ condition }) => condition === 'times')
    const values = await tried('events', ofEvents, () => countWindows(reader, ofEvents, toMs))
    const usual = await tried('usual', ofTimes, () => countUsual(reader, ofTimes, toMs))
    const end = { toMs, visibleUntilMs: visibleUntilMs ?? 0 }
    const crash = await tried('crashes', ofCrashes, () => newCrashes(ofCrashes[0]!, end))

    // Refusals with the keys of others do not count: one sender could hide that another is silent.
    const silent = ofEvents.filter(
      ({ id, condition, threshold }) =>
        condition === 'below' && (values?.get(id) ?? Infinity) < threshold,
    )
    const hasSent = () => hasSentWith(reader, { bundle, apiKeyIds }, nowMs)
    const wasRefusing =
      apiKeyIds.length > 0 &&
      (apiKeyIds.includes('') || ((await tried('keys', silent, hasSent)) ?? true))
    const isSlow = hasFailed || clock.now() - began > quickMs
    if (isSlow) lasts.set(bundle, began)
    for (const { id } of alerts) slow[isSlow ? 'add' : 'delete'](id)
    return alerts.map((alert) => {
      const { id } = alert
      const found = crash ?? { value: values?.get(id), usual: usual?.get(id) }
      return { alert, found, state: judge(alert, found, { isBehind, wasRefusing }) }
    })
  }

  return async function* evaluateAll(alerts, situation) {
    const isSlow = (some: SomeAlerts) => some.some(({ id }) => slow.has(id))
    const lastOf = ([one]: SomeAlerts) => lasts.get(one!.bundle) ?? 0
    const quick: Evaluated[] = []
    const others: SomeAlerts[] = []
    const becameSlow = new Set<string>()
    for (const some of divide(alerts)) {
      const { bundle } = some[0]!
      const isLater = isSlow(some) || becameSlow.has(bundle)
      if (isLater) others.push(some)
      else quick.push(...(await evaluate(some, situation)))
      if (!isLater && isSlow(some)) becameSlow.add(bundle)
    }
    yield quick
    const began = clock.now()
    if (began < slowNotBefore) return
    for (const some of others.toSorted((a, b) => lastOf(a) - lastOf(b))) {
      if (clock.now() - began <= slowMsMax) yield await evaluate(some, situation)
    }
    slowNotBefore = clock.now() + pausePerSlow * (clock.now() - began)
  }
}

function createAttempt(options: { reader: Reader; onError: (error: unknown) => void }) {
  const { reader, onError } = options
  const failed = new Map<string, { untilMs: number; pauseMs: number }>()

  /** Resolves to undefined if `count` rejects, or has rejected lately. */
  return async function attempt<Value>(
    name: string,
    nowMs: number,
    count: () => Promise<Value>,
  ): Promise<Value | undefined> {
    const last = failed.get(name)
    if (last !== undefined && last.untilMs > nowMs) return undefined
    try {
      const value = await count()
      failed.delete(name)
      return value
    } catch (error) {
      // Without a response ClickHouse may be away, which is not the fault of the application.
      const hasResponse = !(error instanceof ClickHouseError) || error.code !== undefined
      if (!hasResponse) await reader.query('SELECT 1')
      onError(error)
      const pauseMs = Math.min(retryMs.max, last ? 2 * last.pauseMs : retryMs.min)
      failed.set(name, { untilMs: nowMs + pauseMs, pauseMs })
      return undefined
    }
  }
}
