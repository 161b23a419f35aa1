import { kinds, type RecordKind } from '@intake/contract'
import { querySettings, type RecordReader } from './records.ts'

export interface Overview {
  /**
   * By kind: the number of records in each of the last 24 hours by their time, oldest first; and
   * the number accepted in the last full minute and hour.
   */
  rates: Record<RecordKind, { hours: HourCount[]; lastMinute: number; lastHour: number }>
  /** By kind; undefined if Redis does not respond. */
  backlogs: Record<RecordKind, Backlog | undefined>
  deadLetters: number
}

export interface HourCount {
  /** The beginning of the hour, in UTC. */
  hour: string
  records: number
}

/** The queue of a kind, for all workers together. */
export interface Backlog {
  waiting: number
  active: number
  delayed: number
  rows: number
  oldestAgeSeconds: number | undefined
  /** `Infinity` if the queue is not getting shorter. */
  secondsToDrain: number
}

export type ReadBacklog = (kind: RecordKind) => Backlog | undefined

export async function readOverview(
  reader: RecordReader,
  readBacklog: ReadBacklog,
): Promise<Overview> {
  const ofKinds = async <Value>(read: (kind: RecordKind) => Promise<Value>) =>
    Object.fromEntries(
      await Promise.all(kinds.map(async (kind) => [kind, await read(kind)] as const)),
    ) as Record<RecordKind, Value>
  const [rates, letters] = await Promise.all([
    ofKinds((kind) => readRates(reader, kind)),
    reader.query<{ letters: number }>(
      `SELECT count() AS letters FROM intake.dead_letters ${querySettings}`,
    ),
  ])
  const backlogs = { logs: readBacklog('logs'), feedback: readBacklog('feedback') }
  return { rates, backlogs, deadLetters: letters[0]?.letters ?? 0 }
}

async function readRates(reader: RecordReader, kind: RecordKind) {
  const [hours, [accepted]] = await Promise.all([
    reader.query<HourCount>(
      `SELECT toStartOfHour(time) AS hour, count() AS records
       FROM intake.${kind}
       WHERE time >= toStartOfHour(now64(3, 'UTC')) - INTERVAL 23 HOUR
       GROUP BY hour ORDER BY hour
       WITH FILL FROM toStartOfHour(now('UTC')) - INTERVAL 23 HOUR
         TO toStartOfHour(now('UTC')) + INTERVAL 1 HOUR STEP INTERVAL 1 HOUR
       ${querySettings}`,
    ),
    // Counts by the time of arrival, which includes late events. The outcome counts are read
    // instead of the records.
    reader.query<{ last_minute: number; last_hour: number }>(
      `SELECT sumIf(records, minute = toStartOfMinute(now('UTC')) - INTERVAL 1 MINUTE) AS last_minute,
         sum(records) AS last_hour
       FROM intake.outcomes
       WHERE code = 'accepted' AND kind = '${kind}' AND minute >= now('UTC') - INTERVAL 1 HOUR
       ${querySettings}`,
    ),
  ])
  return {
    hours,
    lastMinute: accepted?.last_minute ?? 0,
    lastHour: accepted?.last_hour ?? 0,
  }
}
