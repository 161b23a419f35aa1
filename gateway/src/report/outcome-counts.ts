import { randomUUID } from 'node:crypto'
import type { OutcomeCode, RecordKind } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'

/** Some records that had the same outcome. */
export interface Outcome {
  /** Empty: without a valid API key. */
  apiKeyId: string
  /** Empty: the request was for neither kind. */
  kind: RecordKind | ''
  code: OutcomeCode
  /** When they arrived or were refused: the gateway's clock, in milliseconds since 1970. */
  atMs: number
  records: number
}

/** The count of one key, kind and code in one minute. A report with a higher count replaces it. */
export interface OutcomeReport {
  /** Start of the minute, in milliseconds since 1970. */
  minuteMs: number
  /** UUID; part of the identity of the count. */
  run: string
  apiKeyId: string
  kind: RecordKind | ''
  code: OutcomeCode
  /** Cumulative. */
  records: number
}

/** Counts outcomes in memory, per minute. */
export interface OutcomeCounts {
  count(outcome: Outcome): void
  /** The counts that have changed since they were confirmed. */
  unreported(): OutcomeReport[]
  /** Tells that a report is on stable storage. */
  confirm(report: OutcomeReport): void
}

interface Counter {
  apiKeyId: string
  kind: RecordKind | ''
  code: OutcomeCode
  records: number
  /** Of `records`, those on stable storage. */
  reported: number
}

interface Minute {
  minuteMs: number
  run: string
  /** By API key. */
  counters: Map<string, Counter[]>
  /** `clock.now()` of the last change. */
  changedAt: number
}

const minuteMs = 60_000
/** A minute that has not changed for so long, and is reported, is dropped. */
const quietMs = 120_000
/** About 10 MB. */
const countersMax = 50_000
/** A day without Redis. */
const minutesMax = 1_440
/** The tables take no other times. A clock that is wrong is reported elsewhere. */
const timesMs = { first: Date.UTC(2020, 0), last: Date.UTC(2100, 0) }

/**
 * A dropped minute that is counted again gets another `run`, so that its new counts, which start at
 * zero, are added to the reported ones and do not replace them. When there is no memory for another
 * count, records are counted under the code `overflow`; so are the unreported counts of the minute that
 * is dropped because there are too many.
 *
 * @param options.limits for tests
 */
export function createOutcomeCounts(
  options: { clock?: Clock; limits?: { countersMax: number; minutesMax: number } } = {},
): OutcomeCounts {
  const { clock = systemClock, limits = { countersMax, minutesMax } } = options
  const minutes = new Map<number, Minute>()
  let counters = 0
  /** The minute of the last outcome, which the next one usually shares. */
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
    const [oldest] = minutes.values()
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

  /** Minutes that are over. A late record begins such a minute again. */
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

  function counterOf(minute: Minute, { apiKeyId, kind, code }: Outcome): Counter {
    const ofKey = minute.counters.get(apiKeyId)
    const known = ofKey?.find((one) => one.code === code && one.kind === kind)
    if (known !== undefined) return known
    if (counters >= limits.countersMax && code !== 'overflow') return overflowOf(minute, kind)
    const counter = { apiKeyId, kind, code, records: 0, reported: 0 }
    if (ofKey === undefined) minute.counters.set(apiKeyId, [counter])
    else ofKey.push(counter)
    counters++
    return counter
  }

  /** At most three for each minute, so they need no limit of their own. */
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
    .map(({ apiKeyId, kind, code, records }) => ({
      minuteMs: startMs,
      run,
      apiKeyId,
      kind,
      code,
      records,
    }))
}

function confirmIn({ counters }: Minute, report: OutcomeReport): void {
  const counter = counters
    .get(report.apiKeyId)
    ?.find(({ code, kind }) => code === report.code && kind === report.kind)
  if (counter !== undefined) counter.reported = Math.max(counter.reported, report.records)
}

const countersOf = (minute: Minute) => [...minute.counters.values()].flat()
