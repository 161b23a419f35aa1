import { budgetNames, dayCountName, hasBudget, type ApiKey } from '@intake/access'
import { dayMs, limits, type RecordKind } from '@intake/contract'
import type { FleetCounter, FleetCounters } from './fleet-counters.ts'
import { limitNames, limitTable, type Limit, type LimitName, type Unit } from './limits.ts'

/** Longer than a day, so that the window does not end before the day does. */
const dayWindowMs = dayMs + 3_600_000

export interface Used {
  name: LimitName
  limit: Limit & { unit: Unit }
  counter: FleetCounter
}

type ByKind = Record<RecordKind, readonly Used[]>

export interface KeyUsage {
  /** The key's own limits, from which `max` and `hasBudget` follow. */
  own: ApiKey['limits']
  max: Readonly<Record<LimitName, number>>
  hasBudget: boolean
  requests: FleetCounter
  /** Requests of devices beyond their share. */
  flooding: FleetCounter
  /** What the contents of a request count for, in the order of `limitTable`. */
  minute: ByKind
  /** The same with the budgets of the day; undefined if the key has no budget. */
  today: Day | undefined
}

interface Day {
  /** Days since 1970. */
  number: number
  budgets: readonly Used[]
  used: ByKind
}

export function openMinute(
  counters: Pick<FleetCounters, 'open'>,
  { id, limits: own }: ApiKey,
  max: KeyUsage['max'],
): KeyUsage {
  const counterOf = (count: string) => counters.open(id + count, limits.rateWindowMs)
  const used = limitNames.flatMap((name): Used[] => {
    const limit = limitTable[name]
    if (limit.scope !== 'key' || limit.window !== 'minute' || limit.unit === 'requests') return []
    return [{ name, limit, counter: counterOf(limit.count) }]
  })
  return {
    own,
    max,
    hasBudget: hasBudget(own),
    requests: counterOf(limitTable.requestsPerMinute.count),
    flooding: counterOf(':over-share'),
    minute: { logs: ofKind(used, 'logs'), feedback: ofKind(used, 'feedback') },
    today: undefined,
  }
}

/**
 * Follows the counters, so that a gateway that has counted nothing knows when a budget is spent.
 */
export function openDay(
  counters: Pick<FleetCounters, 'open'>,
  { id }: ApiKey,
  { minute }: KeyUsage,
  number: number,
): Day {
  const budgets = budgetNames.map((name): Used => {
    const counter = counters.open(dayCountName(id, number * dayMs, name), dayWindowMs)
    counter.follow()
    return { name, limit: limitTable[name], counter }
  })
  const used = {
    logs: [...minute.logs, ...ofKind(budgets, 'logs')],
    feedback: [...minute.feedback, ...ofKind(budgets, 'feedback')],
  }
  return { number, budgets, used }
}

const ofKind = (used: readonly Used[], kind: RecordKind): Used[] =>
  used.filter(({ limit }) => limit.kinds.includes(kind))
