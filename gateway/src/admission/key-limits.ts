import { hasBudget, type ApiKey } from '@intake/access'
import type { GatewayConfig } from '@intake/config'
import { dayMs, IntakeError, type RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import type { Charge } from '../request.ts'
import type { FleetCounters } from './fleet-counters.ts'
import { openDay, openMinute, type KeyUsage, type Used } from './key-usage.ts'
import { defaultLimits, limited, type LimitName, type RequestSize } from './limits.ts'
import { createDeviceFloods, type DeviceFloods } from './device-floods.ts'
import { createDeviceLimits, type DeviceLimits } from './sketch-limits.ts'

/** Checks and counts what each key sends in a minute and in a day. The methods do no I/O. */
export interface KeyLimiter {
  /** Returns what a key has used, with its limits as they are now. */
  usageOf(key: ApiKey): KeyUsage
  /**
   * Counts a request.
   *
   * @returns the requests of this minute, including this one, the limit for them, and the
   * milliseconds until the minute ends
   */
  countRequest(usage: KeyUsage): { requests: number; max: number; msLeft: number }
  /**
   * Checks whether the key may send this.
   *
   * @param size undefined to check, before the body is read, whether anything more may be sent
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  requireRoom(usage: KeyUsage, kind: RecordKind, size?: RequestSize): void
  /**
   * Checks a request with log events before its JSON is parsed (see `DeviceFloods`).
   *
   * @throws {IntakeError} `rate_limited`
   */
  requireShare(key: ApiKey, json: Buffer): void
  /**
   * Counts the contents of a request towards the limits of its key and the share of its device. If
   * the device has used up its share, the request is refused (see `DeviceFloods`). `giveBack` changes
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
 * @param options.config has the limits of keys that have no limits of their own
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function createKeyLimiter(options: {
  config: GatewayConfig
  counters: Pick<FleetCounters, 'open'>
  clock: Pick<Clock, 'now'>
  wallMs: () => number
}): KeyLimiter {
  const { config, counters, clock, wallMs } = options
  const defaults = defaultLimits(config)
  const devices = createDeviceLimits({ feedbackMax: defaults.deviceFeedbackPerMinute, clock })
  return new Limiter({ counters, defaults, devices, wallMs })
}

class Limiter implements KeyLimiter {
  readonly #usages = new Map<string, KeyUsage>()
  readonly #counters: Pick<FleetCounters, 'open'>
  readonly #defaults: Readonly<Record<LimitName, number>>
  readonly #devices: DeviceLimits
  readonly #floods: DeviceFloods
  readonly #wallMs: () => number

  constructor(options: {
    counters: Pick<FleetCounters, 'open'>
    defaults: Readonly<Record<LimitName, number>>
    devices: DeviceLimits
    wallMs: () => number
  }) {
    const { counters, defaults, devices, wallMs } = options
    this.#counters = counters
    this.#defaults = defaults
    this.#devices = devices
    this.#floods = createDeviceFloods({ usageOf: (key) => this.usageOf(key), devices })
    this.#wallMs = wallMs
  }

  countRequest({ requests, max }: KeyUsage): { requests: number; max: number; msLeft: number } {
    return {
      requests: requests.add(1, max.requestsPerMinute),
      max: max.requestsPerMinute,
      msLeft: requests.msLeft(),
    }
  }

  requireShare(key: ApiKey, json: Buffer): void {
    // No device has used up its share as a rule, so no request pays for the check.
    if (this.#floods.floodedKeys.size > 0) this.#floods.requireShare(key, json)
  }

  take(key: ApiKey, deviceUuid: string, size: RequestSize): Charge {
    const usage = this.usageOf(key)
    this.requireRoom(usage, size.kind, size)
    // Runs after the checks of the key, so that a request that the key may not send does not count
    // for the device. The devices of all keys are counted in one sketch, where needless counts
    // would cause devices of other keys to be refused.
    const device = { account: key.id, member: deviceUuid }
    if (!this.#devices.take(device, size, usage.max.deviceEventsPerMinute)) {
      throw this.#floods.refuse(key, size.kind)
    }
    const { max, today, minute } = usage
    const used = (today?.used ?? minute)[size.kind]
    count(used, { size, max, sign: 1 })
    return {
      giveBack: () => count(used, { size, max, sign: -1 }),
      giveBackBudget(leftOut) {
        for (const { name, limit, counter } of today?.used[size.kind] ?? []) {
          if (limit.window !== 'day') continue
          counter.add(-Math.round((size[limit.unit] * leftOut) / size.records), max[name])
        }
      },
    }
  }

  budgetsNearEnd(keys: readonly ApiKey[]): string[] {
    return keys.flatMap((key) => describeBudgets(key, this.usageOf(key)))
  }

  /** The counters of a day are opened when the day begins. */
  usageOf(key: ApiKey): KeyUsage {
    let usage = this.#usages.get(key.id)
    if (usage === undefined) {
      usage = openMinute(this.#counters, key, { ...this.#defaults, ...key.limits })
      this.#usages.set(key.id, usage)
    } else if (usage.own !== key.limits) {
      // The limits may have changed, because the keys were read again.
      usage.own = key.limits
      usage.max = { ...this.#defaults, ...key.limits }
      usage.hasBudget = hasBudget(key.limits)
    }
    usage.today = undefined
    if (!usage.hasBudget) return usage
    const number = Math.floor(this.#wallMs() / dayMs)
    if (usage.opened?.number !== number) {
      usage.opened = openDay(this.#counters, key, usage, number)
    }
    usage.today = usage.opened
    return usage
  }

  requireRoom(usage: KeyUsage, kind: RecordKind, size?: RequestSize): void {
    for (const { name, limit, counter } of (usage.today?.used ?? usage.minute)[kind]) {
      const amount = size?.[limit.unit] ?? 0
      // A form without attachments needs no room for them.
      if (size !== undefined && amount === 0) continue
      const max = usage.max[name]
      const total = counter.total()
      if (total < max && (total === 0 || total + amount <= max)) continue
      if (limit.window === 'day') throw budgetExhausted(this.#wallMs())
      throw limited(`Too many ${limit.what} with this API key.`, counter.msLeft())
    }
  }
}

/** Counts the contents of a request towards the limits of its key, or takes them back. */
function count(
  used: readonly Used[],
  { size, max, sign }: { size: RequestSize; max: KeyUsage['max']; sign: 1 | -1 },
): void {
  for (const { name, limit, counter } of used) {
    const amount = size[limit.unit]
    if (amount > 0) counter.add(sign * amount, max[name])
  }
}

/** Returns a sentence for each budget that a key has nearly used up. */
function describeBudgets(key: ApiKey, { today, max }: KeyUsage): string[] {
  return (today?.budgets ?? []).flatMap(({ name, limit, counter }) => {
    const used = counter.total()
    if (used < nearEnd * max[name]) return []
    const percent = Math.floor((100 * used) / max[name])
    return [`${key.id} has used ${percent} % of its ${limit.what} for this day`]
  })
}

function budgetExhausted(nowMs: number): IntakeError {
  const detail = 'The API key may send again from midnight UTC.'
  const retryAfterSeconds = Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)
  return new IntakeError('budget_exhausted', detail, { retryAfterSeconds })
}
