import type { ApiKey, KeyLimitName } from '@intake/access'
import { dayMs, IntakeError, limits, type RecordKind } from '@intake/contract'
import type { DeviceLimits } from './device-limits.ts'
import type { FleetCounter, FleetCounters } from './fleet-counters.ts'

/** What a request contains. */
export interface RequestSize {
  kind: RecordKind
  /** Log events, or 1 for a feedback. */
  records: number
  attachmentBytes: number
  /** JSON after decompression, and attachments. */
  bytes: number
}

/** What an accepted request has used of its key's limits. */
export interface Charge {
  /** Takes it back: nothing of the request is stored. */
  giveBack(): void
}

/** What a key may send in a minute and in a day. Nothing here does I/O. */
export interface KeyLimiter {
  requestsMax(key: ApiKey): number
  /** Counts a request of a key that `requestsMax` was called for. */
  countRequest(apiKeyId: string): { requests: number; msLeft: number }
  /**
   * Checks before the body is read whether the key may send anything more of this kind.
   *
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  requireAllowance(key: ApiKey, kind: RecordKind): void
  /**
   * Counts what a request contains. What a device sends beyond its share is not counted for the key,
   * so it takes nothing from the other devices.
   *
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  take(key: ApiKey, deviceUuid: string, size: RequestSize): Charge
  /** The keys that have used most of a budget for this day, in words. */
  budgetsNearEnd(keys: Iterable<ApiKey>): string[]
}

export type LimitDefaults = Readonly<Record<KeyLimitName, number>>

/** A key that has used this part of a budget is reported. */
const nearEnd = 0.8
/** Longer than a day: the counters of a day are not used after it. */
const dayWindowMs = dayMs + 3_600_000

interface Minute {
  requests: FleetCounter
  events: FleetCounter
  feedback: FleetCounter
  attachmentBytes: FleetCounter
}

interface Day {
  /** Days since 1970. */
  number: number
  events: FleetCounter
  bytes: FleetCounter
}

interface KeyState {
  minute: Minute
  /** Undefined while the key has no budget. */
  day: Day | undefined
  own: ApiKey['limits']
  max: LimitDefaults
}

/**
 * Limits requests by their key. A limit of a minute or of a day is never exceeded by what is known of
 * the other gateways (see `startFleetCounters`), except by a single request that is larger than the
 * whole limit: it is accepted if nothing else was, because it would otherwise never be.
 *
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function createKeyLimiter(options: {
  counters: Pick<FleetCounters, 'open'>
  devices: DeviceLimits
  defaults: LimitDefaults
  wallMs: () => number
}): KeyLimiter {
  const { counters, devices, defaults, wallMs } = options
  const states = new Map<string, KeyState>()

  function stateOf(key: ApiKey): KeyState {
    let state = states.get(key.id)
    if (state === undefined) {
      const minute = openMinute(counters, key.id)
      state = { minute, day: undefined, own: key.limits, max: { ...defaults, ...key.limits } }
      states.set(key.id, state)
    } else if (state.own !== key.limits) {
      // The keys have been read again.
      state.own = key.limits
      state.max = { ...defaults, ...key.limits }
    }
    return state
  }

  /** The counters of this day; undefined if the key has no budget. */
  function dayOf(key: ApiKey, state: KeyState): Day | undefined {
    const { eventsPerDay, bytesPerDay } = state.max
    if (eventsPerDay === Infinity && bytesPerDay === Infinity) return undefined
    const number = Math.floor(wallMs() / dayMs)
    if (state.day?.number !== number) state.day = openDay(counters, key.id, number)
    return state.day
  }

  function checkBudgets(state: KeyState, day: Day | undefined, size: Partial<RequestSize>): void {
    if (day === undefined) return
    const { records = 0, bytes = 0, kind } = size
    const { eventsPerDay, bytesPerDay } = state.max
    const isSpent =
      (kind === 'logs' && !hasRoom(day.events, records, eventsPerDay)) ||
      !hasRoom(day.bytes, bytes, bytesPerDay)
    if (isSpent) throw budgetExhausted(wallMs())
  }

  return {
    requestsMax: (key) => stateOf(key).max.requestsPerMinute,

    countRequest(apiKeyId) {
      const state = states.get(apiKeyId)
      if (state === undefined) throw new Error('the limits of the key have not been looked up')
      const { requests } = state.minute
      requests.add(1, state.max.requestsPerMinute)
      return { requests: requests.total(), msLeft: requests.msLeft() }
    },

    requireAllowance(key, kind) {
      const state = stateOf(key)
      const { minute, max } = state
      if (kind === 'logs') requireRoom(minute.events, 0, max.eventsPerMinute, 'events')
      else {
        requireRoom(minute.feedback, 0, max.feedbackPerMinute, 'feedback')
        requireRoom(minute.attachmentBytes, 0, max.attachmentBytesPerMinute, 'attachments')
      }
      checkBudgets(state, dayOf(key, state), { kind })
    },

    take(key, deviceUuid, size) {
      const state = stateOf(key)
      const { minute, max } = state
      const { kind, records, attachmentBytes, bytes } = size
      if (!devices.take({ account: key.id, member: deviceUuid }, size, max.deviceEventsPerMinute)) {
        minute.requests.add(-1, max.requestsPerMinute)
        throw limited('This device sends more than its share.', devices.msLeft(kind))
      }
      const isLogs = kind === 'logs'
      const counter = isLogs ? minute.events : minute.feedback
      const recordsMax = isLogs ? max.eventsPerMinute : max.feedbackPerMinute
      requireRoom(counter, records, recordsMax, isLogs ? 'events' : 'feedback')
      requireRoom(
        minute.attachmentBytes,
        attachmentBytes,
        max.attachmentBytesPerMinute,
        'attachments',
      )
      const day = dayOf(key, state)
      checkBudgets(state, day, size)

      const charge = (sign: 1 | -1): void => {
        counter.add(sign * records, recordsMax)
        if (attachmentBytes > 0) {
          minute.attachmentBytes.add(sign * attachmentBytes, max.attachmentBytesPerMinute)
        }
        if (day === undefined) return
        if (isLogs) day.events.add(sign * records, max.eventsPerDay)
        day.bytes.add(sign * bytes, max.bytesPerDay)
      }
      charge(1)
      return { giveBack: () => charge(-1) }
    },

    budgetsNearEnd(keys) {
      const reasons: string[] = []
      for (const key of keys) {
        const state = stateOf(key)
        const day = dayOf(key, state)
        if (day === undefined) continue
        const used = { events: day.events.total(), bytes: day.bytes.total() }
        const max = { events: state.max.eventsPerDay, bytes: state.max.bytesPerDay }
        for (const name of ['events', 'bytes'] as const) {
          if (used[name] < nearEnd * max[name]) continue
          const percent = Math.floor((100 * used[name]) / max[name])
          reasons.push(`${key.id} has used ${percent} % of its ${name} for this day`)
        }
      }
      return reasons
    },
  }
}

function openMinute(counters: Pick<FleetCounters, 'open'>, id: string): Minute {
  const open = (name: string) => counters.open(name, limits.rateWindowMs)
  return {
    // Earlier gateways count requests under this name, too.
    requests: open(id),
    events: open(`${id}:events`),
    feedback: open(`${id}:feedback`),
    attachmentBytes: open(`${id}:attachment-bytes`),
  }
}

/** Budgets are followed: a gateway that has counted nothing yet must know that one is spent. */
function openDay(counters: Pick<FleetCounters, 'open'>, id: string, number: number): Day {
  const date = new Date(number * dayMs).toISOString().slice(0, 10)
  const open = (name: string) => {
    const counter = counters.open(`${id}:${date}:${name}`, dayWindowMs)
    counter.follow()
    return counter
  }
  return { number, events: open('events'), bytes: open('bytes') }
}

function hasRoom(counter: FleetCounter, amount: number, max: number): boolean {
  const total = counter.total()
  return total < max && (total === 0 || total + amount <= max)
}

function requireRoom(counter: FleetCounter, amount: number, max: number, what: string): void {
  if (hasRoom(counter, amount, max)) return
  throw limited(`Too many ${what} with this API key.`, counter.msLeft())
}

function limited(detail: string, msLeft: number): IntakeError {
  const retryAfterSeconds = Math.max(1, Math.ceil(msLeft / 1_000))
  return new IntakeError('rate_limited', detail, { retryAfterSeconds })
}

function budgetExhausted(nowMs: number): IntakeError {
  const detail = 'The API key may send again from midnight UTC.'
  const retryAfterSeconds = Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)
  return new IntakeError('budget_exhausted', detail, { retryAfterSeconds })
}
