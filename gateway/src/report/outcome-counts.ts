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
  /** When they arrived or were refused, by the gateway's clock, in milliseconds since 1970. */
  atMs: number
  records: number
  /** The id of the rule that left the records out; default: none. */
  rule?: string
}

/**
 * The count of one API key, kind, code and rule in one minute. It replaces earlier reports of the
 * same count that have the same `run`.
 */
export interface OutcomeReport extends Omit<Outcome, 'atMs' | 'rule'> {
  minuteMs: number
  /**
   * A UUID that is new each time the counts of a minute start at zero. They start again if outcomes
   * arrive for a minute that was removed from memory. With the new `run`, the new counts are added
   * to the earlier counts instead of replacing them.
   */
  run: string
  /** The id of the rule that acted; undefined if no rule has acted. */
  rule: string | undefined
}

interface Counter extends Omit<OutcomeReport, 'minuteMs' | 'run'> {
  /** The part of `records` that is on stable storage. */
  reported: number
}

interface Minute {
  minuteMs: number
  run: string
  counters: Map<string, Counter[]>
  /** The time of the last change, in milliseconds of `clock.now()`. */
  changedAt: number
}

const minuteMs = 60_000
/** A minute that has been reported is dropped when it has not changed for this long. */
const quietMs = 120_000
/** The maximum number of counters. This many take about 10 MB. */
const countersMax = 50_000
/** One day, so that no count is lost if Redis is down for a day. */
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
 * Counts outcomes in memory, per minute. Minutes that are reported and quiet are removed from
 * memory; if outcomes arrive for one of them, its counts start at zero under a new `run`.
 *
 * If there are already `countersMax` counters, further outcomes are counted under the code
 * `overflow`. If there are more than `minutesMax` minutes, the oldest is removed, and its
 * unreported counts are added to `overflow`.
 */
export class OutcomeCounts {
  readonly #clock: Pick<Clock, 'now'>
  readonly #limits: Limits
  readonly #minutes = new Map<number, Minute>()
  #counters = 0
  /** The minute of the last outcome. The next outcome is usually in the same minute. */
  #latest: Minute | undefined
  readonly #sources = new WeakMap<OutcomeReport, Counter>()

  /** @param options.limits lower limits, for tests */
  constructor(options: { clock?: Pick<Clock, 'now'>; limits?: Limits } = {}) {
    this.#clock = options.clock ?? systemClock
    this.#limits = options.limits ?? { countersMax, minutesMax }
  }

  count(outcome: Outcome): void {
    const minute = this.#minuteAt(outcome.atMs)
    minute.changedAt = this.#clock.now()
    this.#counterOf(minute, outcome).records += outcome.records
  }

  /** Returns the counts that have changed since Redis last confirmed them. */
  unreported(): OutcomeReport[] {
    const reports: OutcomeReport[] = []
    for (const minute of this.#minutes.values()) {
      for (const counter of countersOf(minute)) {
        const { apiKeyId, kind, code, rule, records, reported } = counter
        if (records <= reported) continue
        const { minuteMs: startMs, run } = minute
        const report = { minuteMs: startMs, run, apiKeyId, kind, code, rule, records }
        this.#sources.set(report, counter)
        reports.push(report)
      }
    }
    return reports
  }

  /** Marks a report, from `unreported`, as stored on stable storage. */
  confirm(report: OutcomeReport): void {
    const counter = this.#sources.get(report)
    if (counter !== undefined) {
      counter.reported = Math.max(counter.reported, report.records)
    }
  }

  #minuteAt(atMs: number): Minute {
    const startMs = Math.floor(atMs / minuteMs) * minuteMs
    if (this.#latest?.minuteMs === startMs) return this.#latest
    const boundedMs = Math.min(Math.max(startMs, timesMs.first), timesMs.last)
    this.#latest = this.#minutes.get(boundedMs) ?? this.#begin(boundedMs)
    return this.#latest
  }

  #counterOf(minute: Minute, { apiKeyId, kind, code, rule }: Outcome): Counter {
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
    return this.#counterOf(minute, { apiKeyId: '', kind, code: 'overflow', atMs: 0, records: 0 })
  }

  #begin(startMs: number): Minute {
    this.#dropReported()
    const oldest = this.#minutes.get(Math.min(...this.#minutes.keys()))
    const minute = { minuteMs: startMs, run: randomUUID(), counters: new Map(), changedAt: 0 }
    this.#minutes.set(startMs, minute)
    if (this.#minutes.size > this.#limits.minutesMax && oldest !== undefined) {
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
    for (const minute of this.#minutes.values()) {
      const isReported = countersOf(minute).every(({ records, reported }) => records === reported)
      if (isReported && minute.changedAt < quietSince) this.#drop(minute)
    }
  }

  #drop(minute: Minute): void {
    this.#minutes.delete(minute.minuteMs)
    this.#counters -= countersOf(minute).length
  }
}

const countersOf = (minute: Minute) => [...minute.counters.values()].flat()
