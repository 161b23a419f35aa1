import type { ApiKey } from '@intake/access'
import { dayMs, IntakeError, type RecordKind } from '@intake/contract'
import type { Charge } from '../request.ts'
import type { DeviceLimits } from './device-limits.ts'
import type { FleetCounters } from './fleet-counters.ts'
import {
  createKeyUsage,
  type Day,
  type KeyState,
  type KeyUsage,
  type LimitDefaults,
} from './key-usage.ts'
import { createOverShare, type OverShare } from './over-share.ts'
import { hasRoom, requireRoom } from './room.ts'

export interface RequestSize {
  kind: RecordKind
  /** The number of log events; 1 for a feedback. */
  records: number
  attachmentBytes: number
  /** The size of the JSON after decompression plus the size of the attachments. */
  bytes: number
}

/** Checks and counts what each key sends in a minute and in a day. The methods do no I/O. */
export interface KeyLimiter {
  requestsMax(key: ApiKey): number
  /** Counts a request. `requestsMax` must have been called for its key before. */
  countRequest(apiKeyId: string): { requests: number; msLeft: number }
  /**
   * Checks before the body is read whether the key may send anything more of this kind.
   *
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  requireAllowance(key: ApiKey, kind: RecordKind): void
  requireShare: OverShare['requireShare']
  /**
   * Counts the contents of a request towards the limits of its key and the share of its device. If
   * the device has used up its share, the request is refused (see `OverShare`). `giveBack` changes
   * only the counts of the key: the request remains in the count of the device even if nothing of
   * it is stored.
   *
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  take(key: ApiKey, deviceUuid: string, size: RequestSize): Charge
  /** Returns a sentence for each daily budget of which a key has used at least 80 % today. */
  budgetsNearEnd(keys: readonly ApiKey[]): string[]
}

/** A key that has used at least this fraction of a budget is reported. */
const nearEnd = 0.8
/**
 * Limits requests by their key. No limit per minute or day is exceeded, as far as this gateway
 * knows the counts of the other gateways (see `startFleetCounters`). There is one exception: a
 * request that is larger than the whole limit is accepted if nothing else was accepted in the
 * window. Otherwise that request could never be accepted.
 *
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function createKeyLimiter(options: {
  counters: Pick<FleetCounters, 'open'>
  devices: DeviceLimits
  defaults: LimitDefaults
  wallMs: () => number
}): KeyLimiter {
  const { devices, wallMs } = options
  const usage = createKeyUsage(options)
  const overShare = createOverShare({ usage, devices })

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
    requestsMax: (key) => usage.of(key).max.requestsPerMinute,

    countRequest(apiKeyId) {
      const { minute, max } = usage.known(apiKeyId)
      const { requests } = minute
      requests.add(1, max.requestsPerMinute)
      return { requests: requests.total(), msLeft: requests.msLeft() }
    },

    requireAllowance(key, kind) {
      const state = usage.of(key)
      const { minute, max } = state
      if (kind === 'logs') {
        requireRoom(minute.events, 0, max.eventsPerMinute, 'events')
        requireRoom(minute.logBytes, 0, max.logBytesPerMinute, 'bytes of events')
      } else {
        requireRoom(minute.feedback, 0, max.feedbackPerMinute, 'feedback')
        requireRoom(minute.attachmentBytes, 0, max.attachmentBytesPerMinute, 'attachments')
      }
      checkBudgets(state, usage.dayOf(key, state), { kind })
    },

    requireShare: overShare.requireShare,

    take(key, deviceUuid, size) {
      const state = usage.of(key)
      const { minute, max } = state
      const { kind, records, attachmentBytes, bytes } = size
      const isLogs = kind === 'logs'
      const counter = isLogs ? minute.events : minute.feedback
      const recordsMax = isLogs ? max.eventsPerMinute : max.feedbackPerMinute
      requireRoom(counter, records, recordsMax, isLogs ? 'events' : 'feedback')
      if (isLogs) requireRoom(minute.logBytes, bytes, max.logBytesPerMinute, 'bytes of events')
      if (attachmentBytes > 0) {
        const bytesMax = max.attachmentBytesPerMinute
        requireRoom(minute.attachmentBytes, attachmentBytes, bytesMax, 'attachments')
      }
      const day = usage.dayOf(key, state)
      checkBudgets(state, day, size)
      // Runs after the checks of the key, so that a request that the key may not send does not
      // count for the device. The devices of all keys are counted in one sketch, where needless
      // counts would cause devices of other keys to be refused.
      if (!devices.take({ account: key.id, member: deviceUuid }, size, max.deviceEventsPerMinute)) {
        throw overShare.refuse(key, kind)
      }

      return charge(state, day, size)
    },

    budgetsNearEnd: (keys) => keys.flatMap((key) => describeBudgets(key, usage)),
  }
}

/** Counts the contents of a request towards the limits of its key. */
function charge({ minute, max }: KeyState, day: Day | undefined, size: RequestSize): Charge {
  const { kind, records, attachmentBytes, bytes } = size
  const isLogs = kind === 'logs'

  function countDay(recordsMore: number, bytesMore: number): void {
    if (day === undefined) return
    if (isLogs) day.events.add(recordsMore, max.eventsPerDay)
    day.bytes.add(bytesMore, max.bytesPerDay)
  }

  function count(sign: 1 | -1): void {
    if (isLogs) {
      minute.events.add(sign * records, max.eventsPerMinute)
      minute.logBytes.add(sign * bytes, max.logBytesPerMinute)
    } else minute.feedback.add(sign * records, max.feedbackPerMinute)
    if (attachmentBytes > 0) {
      minute.attachmentBytes.add(sign * attachmentBytes, max.attachmentBytesPerMinute)
    }
    countDay(sign * records, sign * bytes)
  }

  count(1)
  return {
    giveBack: () => count(-1),
    giveBackBudget: (leftOut) => countDay(-leftOut, -Math.round((bytes * leftOut) / records)),
  }
}

/** Returns a sentence for each budget that a key has nearly used up. */
function describeBudgets(key: ApiKey, usage: KeyUsage): string[] {
  const state = usage.of(key)
  const day = usage.dayOf(key, state)
  if (day === undefined) return []
  const { eventsPerDay, bytesPerDay } = state.max
  const budgets = [
    { name: 'events', used: day.events.total(), max: eventsPerDay },
    { name: 'bytes', used: day.bytes.total(), max: bytesPerDay },
  ]
  return budgets
    .filter(({ used, max }) => used >= nearEnd * max)
    .map(({ name, used, max }) => {
      const percent = Math.floor((100 * used) / max)
      return `${key.id} has used ${percent} % of its ${name} for this day`
    })
}

function budgetExhausted(nowMs: number): IntakeError {
  const detail = 'The API key may send again from midnight UTC.'
  const retryAfterSeconds = Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)
  return new IntakeError('budget_exhausted', detail, { retryAfterSeconds })
}
