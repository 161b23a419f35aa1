import type { Alert } from '@intake/access'
import { ClickHouseError } from '@intake/clickhouse'

/** An application that could not be counted is tried again after so long. */
const retryMs = 10 * 60_000

export type Count<Value> = (alerts: readonly Alert[], toMs: number) => Promise<Map<string, Value>>

/**
 * Returns a function that counts like `count`, for all applications together. When that fails, it
 * counts each application alone; one that fails alone is left out for ten minutes, so that what it
 * sends keeps no alert of another application from being evaluated.
 *
 * @param options.onError called for each failure; what could not be counted is missing in the result
 * @param options.ping rejects while ClickHouse is away
 * @returns rejects if ClickHouse is away
 */
export function countApart<Value>(
  count: Count<Value>,
  { onError, ping }: { onError: (error: unknown) => void; ping: () => Promise<unknown> },
): (
  alerts: readonly Alert[],
  times: { toMs: number; nowMs: number },
) => Promise<Map<string, Value>> {
  /** When each application that has failed alone is tried again. */
  const retryAt = new Map<string, number>()

  return async (alerts, { toMs, nowMs }) => {
    const found = new Map<string, Value>()
    async function failureOf(some: readonly Alert[]): Promise<unknown> {
      try {
        if (some.length > 0) for (const [id, value] of await count(some, toMs)) found.set(id, value)
        return undefined
      } catch (error) {
        return error
      }
    }
    const shared = await failureOf(alerts.filter(({ bundle }) => !retryAt.has(bundle)))
    if (hasNoResponse(shared)) await ping()
    if (shared !== undefined) onError(shared)
    for (const bundle of new Set(alerts.map((alert) => alert.bundle))) {
      const at = retryAt.get(bundle)
      if (at === undefined ? shared === undefined : at > nowMs) continue
      const alone = await failureOf(alerts.filter((alert) => alert.bundle === bundle))
      if (alone === undefined) {
        retryAt.delete(bundle)
        continue
      }
      onError(alone)
      retryAt.set(bundle, nowMs + retryMs)
      // Either ClickHouse is away by now, or this application took all the time: the rest is counted
      // in the next run, without it.
      if (hasNoResponse(alone)) break
    }
    return found
  }
}

const hasNoResponse = (error: unknown) =>
  error instanceof ClickHouseError && error.code === undefined
