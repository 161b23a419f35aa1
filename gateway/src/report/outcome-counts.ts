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
  options: { clock?: Clock; limits?: { countersMax: number; minutesMax: number } } = {},
): OutcomeCounts {
  const { clock = systemClock, limits = { countersMax, minutesMax } } = options
  const minutes = new Map<number, Minute>()
  let counters = 0
  /** The minute of the last outcome. The next outcome is usually in the same minute. */
  let latest: Minute | undefined

  function minuteOf(atMs: number): Minute {
    const startMs = Math.floor(atMs / minuteMs) * minuteMs
    if (latest?.minuteMs === startMs) return latest
    const boundedMs = Math.min(Math.max(startMs, timesMs.first), timesMs.last)
    latest = minutes.get(boundedMs) ?? begin(boundedMs)
    return latest
  }

  function begin(startMs: number): Minute {
    dropReported()
    const oldest = minutes.get(Math.min(...minutes.keys()))
    const minute = { minuteMs: startMs, run: randomUUID(), counters: new Map(), changedAt: 0 }
    minutes.set(startMs, minute)
    if (minutes.size > limits.minutesMax && oldest !== undefined) {
      drop(oldest)
      for (const { kind, records, reported } of countersOf(oldest)) {
        if (records > reported) overflowOf(minute, kind).records += records - reported
      }
    }
    return minute
  }

  /** Drops reported minutes that have not changed for `quietMs`. */
  function dropReported(): void {
    const quietSince = clock.now() - quietMs
    for (const minute of minutes.values()) {
      const isReported = countersOf(minute).every(({ records, reported }) => records === reported)
      if (isReported && minute.changedAt < quietSince) drop(minute)
    }
  }

  function drop(minute: Minute): void {
    minutes.delete(minute.minuteMs)
    counters -= countersOf(minute).length
  }

  function counterOf(minute: Minute, { apiKeyId, kind, code, rule }: Outcome): Counter {
    const ofKey = minute.counters.get(apiKeyId)
    for (const one of ofKey ?? []) {
      if (one.code === code && one.kind === kind && one.rule === rule) return one
    }
    if (counters >= limits.countersMax && code !== 'overflow') return overflowOf(minute, kind)
    const counter: Counter = { apiKeyId, kind, code, rule, records: 0, reported: 0 }
    if (ofKey === undefined) minute.counters.set(apiKeyId, [counter])
    else ofKey.push(counter)
    counters++
    return counter
  }

  /** Returns the `overflow` counter of a kind; up to three per minute may exceed `countersMax`. */
  function overflowOf(minute: Minute, kind: Counter['kind']): Counter {
    const outcome: Outcome = { apiKeyId: '', kind, code: 'overflow', atMs: 0, records: 0 }
    return counterOf(minute, outcome)
  }

  return {
    count(outcome) {
      const minute = minuteOf(outcome.atMs)
      minute.changedAt = clock.now()
      counterOf(minute, outcome).records += outcome.records
    },

    unreported: () => [...minutes.values()].flatMap(reportsOf),

    confirm(report) {
      const minute = minutes.get(report.minuteMs)
      if (minute?.run === report.run) confirmIn(minute, report)
    },
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
