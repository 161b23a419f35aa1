import { hasBudget, type ApiKey } from '@intake/access'
import type { GatewayConfig } from '@intake/config'
import { dayMs, IntakeError, type RecordKind } from '@intake/contract'
import type { Clock } from '@intake/runtime'
import type { Charge } from '../request.ts'
import { findDevice } from './find-device.ts'
import type { FleetCounters } from './fleet-counters.ts'
import { openDay, openMinute, type KeyUsage, type Used } from './key-usage.ts'
import { defaultLimits, limited, type LimitName, type RequestSize } from './limits.ts'
import { createDeviceLimits, type DeviceLimits } from './sketch-limits.ts'

/** A key that has used at least this fraction of a budget is reported. */
const nearEnd = 0.8
/** What a device takes from its share when it is only looked up. */
const nothing = { kind: 'logs', records: 0, attachmentBytes: 0 } as const

interface Options {
  /** Has the limits of keys that have no limits of their own. */
  config: GatewayConfig
  counters: Pick<FleetCounters, 'open'>
  clock: Pick<Clock, 'now'>
  /** The gateway's clock, in milliseconds since 1970. */
  wallMs: () => number
}

/**
 * Checks and counts what each key sends in a minute and in a day, without I/O. No limit is
 * exceeded, as far as this gateway knows the counts of the other gateways (see
 * `startFleetCounters`). There is one exception: a request that is larger than the whole limit is
 * accepted if nothing else was accepted in the window. Otherwise it could never be accepted.
 *
 * The requests of devices that have used up their share have a count of their own, as high as the
 * key's limit of requests, so the other devices can still use that limit.
 */
export class KeyLimiter {
  readonly #usages = new Map<string, KeyUsage>()
  /** The keys whose count of requests of devices beyond their share is used up. */
  readonly #floodedKeys = new Set<string>()
  readonly #counters: Options['counters']
  readonly #defaults: Readonly<Record<LimitName, number>>
  readonly #devices: DeviceLimits
  readonly #wallMs: () => number

  constructor({ config, counters, clock, wallMs }: Options) {
    this.#counters = counters
    this.#defaults = defaultLimits(config)
    const feedbackMax = this.#defaults.deviceFeedbackPerMinute
    this.#devices = createDeviceLimits({ feedbackMax, clock })
    this.#wallMs = wallMs
  }

  /** Returns what a key has used, with its limits as they are now. */
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
    const number = usage.hasBudget ? Math.floor(this.#wallMs() / dayMs) : undefined
    if (usage.today?.number !== number) {
      usage.today = number === undefined ? undefined : openDay(this.#counters, key, usage, number)
    }
    return usage
  }

  /** Counts a request; `requests` includes it. */
  countRequest({ requests, max }: KeyUsage): { requests: number; max: number; msLeft: number } {
    return {
      requests: requests.add(1, max.requestsPerMinute),
      max: max.requestsPerMinute,
      msLeft: requests.msLeft(),
    }
  }

  /**
   * Checks whether the key may send this.
   *
   * @param size undefined to check, before the body is read, whether anything more may be sent
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  requireCapacity(usage: KeyUsage, kind: RecordKind, size?: RequestSize): void {
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

  /**
   * Checks a request with log events before its JSON is parsed: refuses it, and counts it nowhere,
   * if it names a device beyond its share while the count of such requests is used up.
   *
   * @param json the JSON of the request, or its beginning (see `findDevice`)
   * @throws {IntakeError} `rate_limited`
   */
  requireShare(key: ApiKey, json: Buffer): void {
    // As a rule no device has used up its share, so no request pays for the check.
    if (this.#floodedKeys.size === 0 || !this.#floodedKeys.has(key.id)) return
    const { requests, flooding, max } = this.usageOf(key)
    if (flooding.total() < max.requestsPerMinute) {
      this.#floodedKeys.delete(key.id)
      return
    }
    const member = findDevice(json)
    if (member === undefined) return
    const device = { account: key.id, member }
    if (this.#devices.take(device, nothing, max.deviceEventsPerMinute)) return
    requests.add(-1, max.requestsPerMinute)
    throw this.#overShare('logs')
  }

  /**
   * Counts the contents of a request towards the limits of its key and the share of its device.
   * `giveBack` changes only the counts of the key: the request remains in the count of the device
   * even if nothing of it is stored.
   *
   * @throws {IntakeError} `rate_limited`, `budget_exhausted`
   */
  take(key: ApiKey, deviceUuid: string, size: RequestSize): Charge {
    const usage = this.usageOf(key)
    this.requireCapacity(usage, size.kind, size)
    // Runs after the checks of the key, so that a request that the key may not send does not count
    // for the device. The devices of all keys are counted in one sketch, where needless counts
    // would cause devices of other keys to be refused.
    const device = { account: key.id, member: deviceUuid }
    if (!this.#devices.take(device, size, usage.max.deviceEventsPerMinute)) {
      this.#countFlood(key, usage)
      throw this.#overShare(size.kind)
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

  /**
   * Counts a request of a device beyond its share. When that count is used up, the request counts
   * for its key, because the key's limit must hold for a device that `requireShare` cannot find, and
   * for feedback.
   */
  #countFlood({ id }: ApiKey, { requests, flooding, max: { requestsPerMinute } }: KeyUsage): void {
    if (flooding.total() < requestsPerMinute) {
      flooding.add(1, requestsPerMinute)
      requests.add(-1, requestsPerMinute)
    } else {
      this.#floodedKeys.add(id)
    }
  }

  #overShare(kind: RecordKind): IntakeError {
    return limited('This device sends more than its share.', this.#devices.msLeft(kind))
  }

  /** Returns a sentence for each daily budget of which a key has used at least 80 % today. */
  budgetsNearEnd(keys: readonly ApiKey[]): string[] {
    return keys.flatMap((key) => {
      const { today, max } = this.usageOf(key)
      return (today?.budgets ?? []).flatMap(({ name, limit, counter }) => {
        const used = counter.total()
        if (used < nearEnd * max[name]) return []
        const percent = Math.floor((100 * used) / max[name])
        return [`${key.id} has used ${percent} % of its ${limit.what} for this day`]
      })
    })
  }
}

function count(
  used: readonly Used[],
  { size, max, sign }: { size: RequestSize; max: KeyUsage['max']; sign: 1 | -1 },
): void {
  for (const { name, limit, counter } of used) {
    const amount = size[limit.unit]
    if (amount > 0) counter.add(sign * amount, max[name])
  }
}

function budgetExhausted(nowMs: number): IntakeError {
  const detail = 'The API key may send again from midnight UTC.'
  const retryAfterSeconds = Math.ceil((dayMs - (nowMs % dayMs)) / 1_000)
  return new IntakeError('budget_exhausted', detail, { retryAfterSeconds })
}
