import { randomUUID } from 'node:crypto'
import type { OutcomeCode, RecordKind } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'

/** A number of records that had the same outcome. */
export interface Outcome {
  /** The id of the API key; empty if the request had no valid key. */
  apiKeyId: string
  /** The kind of record that the request was for; empty if it was for none. */
  kind: RecordKind | ''
  code: OutcomeCode
  /**
   * When the records arrived or were refused, by the gateway's clock, in milliseconds since 1970.
   */
  atMs: number
  records: number
  /** The id of the rule that left the records out; default: none. */
  rule?: string
}

/**
 * The count of one API key, kind, code and rule in one minute. It replaces earlier reports of the
 * same count that have the same `run`.
 */
export interface OutcomeReport {
  /** Start of the minute, in milliseconds since 1970. */
  minuteMs: number
  /**
   * A UUID that is new each time the counts of a minute start at zero. They start again if outcomes
   * arrive for a minute that was removed from memory. With the new `run`, the new counts are added
   * to the earlier counts instead of replacing them.
   */
  run: string
  apiKeyId: string
  kind: RecordKind | ''
  code: OutcomeCode
  /** The id of the rule that acted; undefined if no rule has acted. */
  rule: string | undefined
  /** The number of records so far. */
  records: number
}

export interface OutcomeCounts {
  count(outcome: Outcome): void
  /** The counts that have changed since Redis last confirmed them. */
  unreported(): OutcomeReport[]
  /** Marks a report as stored on stable storage. */
  confirm(report: OutcomeReport): void
}

interface Counter {
  apiKeyId: string
  kind: RecordKind | ''
  code: OutcomeCode
  rule: string | undefined
  records: number
  /** The part of `records` that is on stable storage. */
  reported: number
}

interface Minute {
  minuteMs: number
  run: string
  /** The counters by API key. */
  counters: Map<string, Counter[]>
  /** The time of the last change, in milliseconds of `clock.now()`. */
  changedAt: number
}

const minuteMs = 60_000
/** A minute that has been reported is dropped when it has not changed for this long. */
const quietMs = 120_000
/** The maximum number of counters. This many take about 10 MB. */
const countersMax = 50_000
/**
 * The maximum number of minutes in memory. It is one day, so that no count is lost if Redis is down
 * for a day.
 */
const minutesMax = 1_440
/**
 * Times outside this range are counted at its ends, because the column `minute` can hold no time
 * after 2106. A wrong clock is reported as the problem `clock_skew`.
 */
const timesMs = { first: Date.UTC(2020, 0), last: Date.UTC(2100, 0) }

interface Limits {
  countersMax: number
  minutesMax: number
}

/**
 * Counts outcomes in memory, per minute. Old minutes are removed from memory. If outcomes arrive
 * for a removed minute, its counts start again at zero under a new `run`, so that the new counts
 * are added to the reported counts instead of replacing them.
 *
 * If there are already `countersMax` counters, further outcomes are counted under the code
 * `overflow`. If there are more than `minutesMax` minutes, the oldest is removed, and its
 * unreported counts are added to `overflow`.
 *
 * @param options.limits lower limits, for tests
 */
export function createOutcomeCounts(
  options: { clock?: Clock; limits?: Limits } = {},
): OutcomeCounts {
  const { clock = systemClock, limits = { countersMax, minutesMax } } = options
  const minutes = new Minutes(clock, limits)

  return {
    count(outcome) {
      const minute = minutes.at(outcome.atMs)
      minute.changedAt = clock.now()
      minutes.counterOf(minute, outcome).records += outcome.records
    },

    unreported: () => minutes.all().flatMap(reportsOf),

    confirm(report) {
      const minute = minutes.find(report.minuteMs)
      if (minute?.run === report.run) confirmIn(minute, report)
    },
  }
}

/** The minutes in memory, with their counters. */
class Minutes {
  readonly #clock: Clock
  readonly #limits: Limits
  readonly #byStart = new Map<number, Minute>()
  #counters = 0
  /** The minute of the last outcome. The next outcome is usually in the same minute. */
  #latest: Minute | undefined

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock
    this.#limits = limits
  }

  all(): Minute[] {
    return [...this.#byStart.values()]
  }

  find(startMs: number): Minute | undefined {
    return this.#byStart.get(startMs)
  }

  at(atMs: number): Minute {
    const startMs = Math.floor(atMs / minuteMs) * minuteMs
    if (this.#latest?.minuteMs === startMs) return this.#latest
    const boundedMs = Math.min(Math.max(startMs, timesMs.first), timesMs.last)
    this.#latest = this.#byStart.get(boundedMs) ?? this.#begin(boundedMs)
    return this.#latest
  }

  counterOf(minute: Minute, { apiKeyId, kind, code, rule }: Outcome): Counter {
    const ofKey = minute.counters.get(apiKeyId)
    for (const one of ofKey ?? []) {
      if (one.code === code && one.kind === kind && one.rule === rule) return one
    }
    if (this.#counters >= this.#limits.countersMax && code !== 'overflow') {
      return this.#overflowOf(minute, kind)
    }
    const counter: Counter = { apiKeyId, kind, code, rule, records: 0, reported: 0 }
    if (ofKey === undefined) minute.counters.set(apiKeyId, [counter])
    else ofKey.push(counter)
    this.#counters++
    return counter
  }

  /** Returns the `overflow` counter of a kind; up to three per minute may exceed `countersMax`. */
  #overflowOf(minute: Minute, kind: Counter['kind']): Counter {
    return this.counterOf(minute, { apiKeyId: '', kind, code: 'overflow', atMs: 0, records: 0 })
  }

  #begin(startMs: number): Minute {
    this.#dropReported()
    const oldest = this.#byStart.get(Math.min(...this.#byStart.keys()))
    const minute = { minuteMs: startMs, run: randomUUID(), counters: new Map(), changedAt: 0 }
    this.#byStart.set(startMs, minute)
    if (this.#byStart.size > this.#limits.minutesMax && oldest !== undefined) {
      this.#drop(oldest)
      for (const { kind, records, reported } of countersOf(oldest)) {
        if (records > reported) this.#overflowOf(minute, kind).records += records - reported
      }
    }
    return minute
  }

  /** Drops reported minutes that have not changed for `quietMs`. */
  #dropReported(): void {
    const quietSince = this.#clock.now() - quietMs
    for (const minute of this.#byStart.values()) {
      const isReported = countersOf(minute).every(({ records, reported }) => records === reported)
      if (isReported && minute.changedAt < quietSince) this.#drop(minute)
    }
  }

  #drop(minute: Minute): void {
    this.#byStart.delete(minute.minuteMs)
    this.#counters -= countersOf(minute).length
  }
}

function reportsOf({ minuteMs: startMs, run, counters }: Minute): OutcomeReport[] {
  return [...counters.values()]
    .flat()
    .filter(({ records, reported }) => records > reported)
    .map(({ apiKeyId, kind, code, rule, records }) => ({
      minuteMs: startMs,
      run,
      apiKeyId,
      kind,
      code,
      rule,
      records,
    }))
}

function confirmIn({ counters }: Minute, report: OutcomeReport): void {
  const counter = counters
    .get(report.apiKeyId)
    ?.find(
      ({ code, kind, rule }) =>
        code === report.code && kind === report.kind && rule === report.rule,
    )
  if (counter !== undefined) counter.reported = Math.max(counter.reported, report.records)
}

const countersOf = (minute: Minute) => [...minute.counters.values()].flat()
