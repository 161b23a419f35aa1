import type { Alert } from '@intake/access'
import { ClickHouseError } from '@intake/clickhouse'

/** An application that could not be counted is tried again after so long. */
const retryMs = 10 * 60_000

export type Count<Value> = (alerts: readonly Alert[], toMs: number) => Promise<Map<string, Value>>

/**
 * Returns a function that counts like `count`, for all applications together. When ClickHouse refuses
 * that, it counts each application alone; one that fails alone is left out for ten minutes, so that
 * what it sends keeps no alert of another application from being evaluated.
 *
 * @param onError called for each refusal; what could not be counted is missing in the result
 * @returns rejects if ClickHouse does not respond
 */
export function countApart<Value>(
  count: Count<Value>,
  onError: (error: unknown) => void,
): (
  alerts: readonly Alert[],
  times: { toMs: number; nowMs: number },
) => Promise<Map<string, Value>> {
  /** When each application that has failed alone is tried again. */
  const retryAt = new Map<string, number>()

  return async (alerts, { toMs, nowMs }) => {
    const found = new Map<string, Value>()
    async function add(some: readonly Alert[]): Promise<boolean> {
      try {
        if (some.length > 0) for (const [id, value] of await count(some, toMs)) found.set(id, value)
        return true
      } catch (error) {
        if (error instanceof ClickHouseError && error.code === undefined) throw error
        onError(error)
        return false
      }
    }
    const areAllCounted = await add(alerts.filter(({ bundle }) => !retryAt.has(bundle)))
    for (const bundle of new Set(alerts.map((alert) => alert.bundle))) {
      const at = retryAt.get(bundle)
      if (at === undefined ? areAllCounted : at > nowMs) continue
      const isCounted = await add(alerts.filter((alert) => alert.bundle === bundle))
      if (isCounted) retryAt.delete(bundle)
      else retryAt.set(bundle, nowMs + retryMs)
    }
    return found
  }
}
