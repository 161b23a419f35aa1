import type { Redis } from '@intake/redis'
import { budgetNames, type BudgetName } from './key-limits.ts'

/** What a budget limits: `events` for `eventsPerDay`. */
export type DayCount = BudgetName extends `${infer Count}PerDay` ? Count : never

export const dayCountOf = (budget: BudgetName): DayCount =>
  budget.slice(0, -'PerDay'.length) as DayCount

/** Returns the Redis key of a count that all gateways share. */
export const sharedCountKey = (name: string): string => `{intake}:rate:${name}`

/** @param atMs any time of the day (UTC), in milliseconds since 1970 */
export const dayCountName = (apiKeyId: string, atMs: number, budget: BudgetName): string =>
  `${apiKeyId}:${new Date(atMs).toISOString().slice(0, 10)}:${dayCountOf(budget)}`

/** What a key has used on the day (UTC) of `atMs` on all gateways; they add twice a second. */
export async function readUsedToday(
  redis: Redis,
  apiKeyId: string,
  atMs: number,
): Promise<Record<DayCount, number>> {
  const keys = budgetNames.map((budget) => sharedCountKey(dayCountName(apiKeyId, atMs, budget)))
  const counts = await redis.mget(keys)
  return Object.fromEntries(
    budgetNames.map((budget, index) => [dayCountOf(budget), Number(counts[index] ?? 0)]),
  ) as Record<DayCount, number>
}
