import type { Alert } from '@intake/access'
import { ClickHouseError, isoTime } from '@intake/clickhouse'
import { errorCatalogue } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'
import {
  countUsual,
  countWindows,
  hasSentWith,
  type Reader,
  type SomeAlerts,
} from './count-windows.ts'
import { judge, type Evaluated, type Found } from './judge.ts'
import { createKnownCrashes } from './known-crashes.ts'

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
  const [row] = await reader.query<{ now: string; until: string | null; refused: string[] }>(
    `SELECT now64(3, 'UTC') AS now,
       (SELECT maxOrNull(visible_until) FROM intake.watermark WHERE kind = 'logs') AS until,
       (SELECT groupUniqArray(api_key_id) FROM intake.outcomes
        WHERE minute >= now64(3, 'UTC') - toIntervalMillisecond(${refusedMs}) AND kind IN ('logs', '')
          AND code IN {refusals:Array(String)}) AS refused`,
    { refusals },
  )
  const { now, until, refused } = row!
  return {
    nowMs: Date.parse(isoTime(now)),
    visibleUntilMs: until === null ? undefined : Date.parse(isoTime(until)),
    refusedKeys: refused,
  }
}

/** Alerts are quick if their last evaluation took at most this, or if there was none. */
const quickMs = 500
/** A call begins to evaluate none that are slow after this time. */
const slowMsMax = 10_000

/**
 * Creates the function that evaluates alerts. Their windows end at the watermark, so that nothing
 * is missing in them, or at the present while the watermark is behind. Those of one application that
 * are counted in the same way are counted together. What is quick comes first, and at each call;
 * what is slow or fails takes turns, the first in `alerts` first. So what an application sends delays
 * no quick alert of another by more than one evaluation.
 *
 * @param options.onError called when some alerts could not be counted; they are then unknown
 * @returns yields what can be stored at once; throws if ClickHouse is away
 */
export function createEvaluation(options: {
  reader: Reader
  onError: (error: unknown) => void
  clock?: Pick<Clock, 'now'>
}): (alerts: readonly Alert[], situation: Situation) => AsyncGenerator<Evaluated[]> {
  const { reader, onError, clock = systemClock } = options
  const newCrashes = createKnownCrashes(reader)
  /** The names of the groups that are not quick. */
  const slow = new Set<string>()

  async function count(
    alerts: SomeAlerts,
    situation: Situation,
    toMs: number,
  ): Promise<Map<string, Found>> {
    const { condition } = alerts[0]!
    const found = new Map<string, Found>()
    if (condition === 'new-crash') {
      const end = { toMs, visibleUntilMs: situation.visibleUntilMs ?? 0 }
      for (const alert of alerts) found.set(alert.id, { value: await newCrashes(alert, end) })
      return found
    }
    const values = await countWindows(reader, alerts, toMs)
    const usual = condition === 'times' ? await countUsual(reader, alerts, toMs) : undefined
    const wasRefused = condition === 'below' && (await wasRefusedLately(alerts, situation))
    for (const { id } of alerts) {
      found.set(id, { value: values.get(id), usual: usual?.get(id), wasRefused })
    }
    return found
  }

  /** Refusals with the keys of others do not count: one sender could hide that another is silent. */
  async function wasRefusedLately(alerts: SomeAlerts, { nowMs, refusedKeys }: Situation) {
    if (refusedKeys.length === 0 || refusedKeys.includes('')) return refusedKeys.length > 0
    return hasSentWith(reader, { bundle: alerts[0]!.bundle, apiKeyIds: refusedKeys }, nowMs)
  }

  async function evaluate(
    [name, alerts]: readonly [string, SomeAlerts],
    situation: Situation,
  ): Promise<Evaluated[]> {
    const began = clock.now()
    const { nowMs, visibleUntilMs } = situation
    const isBehind = visibleUntilMs === undefined || nowMs - visibleUntilMs > behindMs
    const toMs = isBehind ? nowMs : visibleUntilMs
    const counted = await count(alerts, situation, toMs).catch(async (error: unknown) => {
      // Without a response ClickHouse may be away, which is not the fault of the application.
      if (error instanceof ClickHouseError && error.code === undefined)
        await reader.query('SELECT 1')
      onError(error)
      return undefined
    })
    const isQuick = counted !== undefined && clock.now() - began <= quickMs
    slow[isQuick ? 'delete' : 'add'](name)
    return alerts.map((alert) => {
      const found = counted?.get(alert.id) ?? { value: undefined }
      return { alert, found, state: judge(alert, found, isBehind) }
    })
  }

  return async function* evaluateAll(alerts, situation) {
    const groups = new Map<string, Alert[]>()
    for (const alert of alerts) {
      const name = `${alert.condition} ${alert.bundle}`
      groups.set(name, [...(groups.get(name) ?? []), alert])
    }
    const others = [...groups].filter(([name]) => slow.has(name))
    for (const [name] of others) groups.delete(name)
    const quick: Evaluated[] = []
    for (const group of groups) quick.push(...(await evaluate(group, situation)))
    yield quick
    const until = clock.now() + slowMsMax
    for (const group of others) if (clock.now() < until) yield await evaluate(group, situation)
  }
}
