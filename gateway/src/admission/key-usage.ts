import { dayCountName, type ApiKey, type KeyLimitName } from '@intake/access'
import { dayMs, limits } from '@intake/contract'
import type { FleetCounter, FleetCounters } from './fleet-counters.ts'

export type LimitDefaults = Readonly<Record<KeyLimitName, number>>

/**
 * The length of the window in which a day is counted: longer than a day, so that the window does
 * not end before the day does.
 */
const dayWindowMs = dayMs + 3_600_000

interface Minute {
  requests: FleetCounter
  /** Requests of devices beyond their share. */
  overShare: FleetCounter
  events: FleetCounter
  logBytes: FleetCounter
  feedback: FleetCounter
  attachmentBytes: FleetCounter
}

export interface Day {
  /** Days since 1970. */
  number: number
  events: FleetCounter
  bytes: FleetCounter
}

export interface KeyState {
  minute: Minute
  /** The counters that `dayOf` has opened last; undefined if it has opened none. */
  day: Day | undefined
  own: ApiKey['limits']
  max: LimitDefaults
}

/** What each key has used, and its limits. */
export interface KeyUsage {
  of(key: ApiKey): KeyState
  /** The state of a key for which `of` was called before. */
  known(apiKeyId: string): KeyState
  /** The counters of this day; undefined if the key has no budget. */
  dayOf(key: ApiKey, state: KeyState): Day | undefined
}

/**
 * @param options.defaults the limits of keys that have no limits of their own
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 */
export function createKeyUsage(options: {
  counters: Pick<FleetCounters, 'open'>
  defaults: LimitDefaults
  wallMs: () => number
}): KeyUsage {
  const { counters, defaults, wallMs } = options
  const states = new Map<string, KeyState>()

  function of(key: ApiKey): KeyState {
    let state = states.get(key.id)
    if (state === undefined) {
      const minute = openMinute(counters, key.id)
      state = { minute, day: undefined, own: key.limits, max: { ...defaults, ...key.limits } }
      states.set(key.id, state)
    } else if (state.own !== key.limits) {
      // The limits may have changed, because the keys were read again.
      state.own = key.limits
      state.max = { ...defaults, ...key.limits }
    }
    return state
  }

  function dayOf(key: ApiKey, state: KeyState): Day | undefined {
    const { eventsPerDay, bytesPerDay } = state.max
    if (eventsPerDay === Infinity && bytesPerDay === Infinity) return undefined
    const number = Math.floor(wallMs() / dayMs)
    if (state.day?.number !== number) state.day = openDay(counters, key.id, number)
    return state.day
  }

  function known(apiKeyId: string): KeyState {
    const state = states.get(apiKeyId)
    if (state === undefined) throw new Error('the limits of the key have not been looked up')
    return state
  }

  return { of, known, dayOf }
}

function openMinute(counters: Pick<FleetCounters, 'open'>, id: string): Minute {
  const open = (name: string) => counters.open(name, limits.rateWindowMs)
  return {
    // This name has no suffix, because gateways of earlier versions share this count under the same
    // name.
    requests: open(id),
    overShare: open(`${id}:over-share`),
    events: open(`${id}:events`),
    logBytes: open(`${id}:log-bytes`),
    feedback: open(`${id}:feedback`),
    attachmentBytes: open(`${id}:attachment-bytes`),
  }
}

/**
 * Opens the counters of a day, and calls `follow` on them, so that even a gateway that has counted
 * nothing knows when a budget is spent.
 */
function openDay(counters: Pick<FleetCounters, 'open'>, id: string, number: number): Day {
  const open = (count: 'events' | 'bytes') => {
    const counter = counters.open(dayCountName(id, number * dayMs, count), dayWindowMs)
    counter.follow()
    return counter
  }
  return { number, events: open('events'), bytes: open('bytes') }
}
