import type { ClickHouse } from '@intake/clickhouse'
import {
  arrivedInWindow,
  askedEvent,
  askedVersion,
  divide,
  minutesInMs,
  querySettings,
  questionParams,
  type EventQuestion,
} from './question.ts'

interface Row {
  bundle_identifier: string
  named: string
  version: string
  /** The place of the shortest window that the events are in, from 1. */
  place: number
  number: number
}

type Questions = readonly EventQuestion[]
type Reader = Pick<ClickHouse, 'query'>

/** Counts the events of each question in its window, sampled ones by their rate. */
export const countEvents = (reader: Reader, questions: Questions, toMs: number) =>
  countInWindows(reader, divide(questions), toMs, {
    select: (some) =>
      `${askedEvent} AS named, ${askedVersion(some)} AS version, sum(1 / sample_rate) AS number
       FROM intake.logs WHERE event IN {events:Array(String)}`,
    answer: (rows, { event, versionName }) =>
      rows
        .filter((row) => row.named === event && [row.version, ''].includes(versionName))
        .reduce((sum, { number }) => sum + number, 0),
  })

/**
 * The percentage of the devices (of the version, if one is named) that sent the event, sampled ones
 * by their rate; 0 of no devices.
 */
export const countDeviceShares = (reader: Reader, questions: Questions, toMs: number) =>
  // Devices of several windows cannot be added, so a statement has only one.
  countInWindows(reader, ofEqualWindow(questions), toMs, {
    select: (some) =>
      `pair.1 AS named, pair.2 AS version,
         uniqCombined64(device_uuid) / if(named = '', 1, avg(sample_rate)) AS number
       FROM intake.logs
       ARRAY JOIN arrayDistinct(arrayConcat(
         [('', ''), (${askedEvent}, '')],
         [('', ${askedVersion(some)}), (${askedEvent}, ${askedVersion(some)})])) AS pair
       WHERE 1`,
    answer: (rows, { event, versionName }) => {
      const devicesOf = (named: string) =>
        rows.find((row) => row.named === named && row.version === versionName)?.number ?? 0
      const all = devicesOf('')
      return all === 0 ? 0 : Math.min(100, (100 * devicesOf(event)) / all)
    },
  })

const ofEqualWindow = (questions: Questions): Questions[] =>
  [...new Set(questions.map(({ minutes }) => minutes))].flatMap((window) =>
    divide(questions.filter(({ minutes }) => minutes === window)),
  )

/** Asks one statement for each part of the questions. */
async function countInWindows(
  reader: Reader,
  parts: readonly Questions[],
  toMs: number,
  count: {
    /** Returns SQL for `named`, `version` and `number`, up to a condition. */
    select: (questions: Questions) => string
    /** @param rows those of the question's application and window */
    answer: (rows: Row[], question: EventQuestion) => number
  },
): Promise<Map<string, number>> {
  const answers = new Map<string, number>()
  for (const some of parts) {
    const windows = [...new Set(some.map(({ minutes }) => minutes))].toSorted((a, b) => a - b)
    const rows = await reader.query<Row>(
      `SELECT bundle_identifier,
         arrayFirstIndex(one -> one > dateDiff('millisecond', received_at, {to:DateTime64(3, 'UTC')}) - 1,
           {windows:Array(UInt32)}) AS place, ${count.select(some)} AND ${arrivedInWindow}
       GROUP BY bundle_identifier, named, version, place ${querySettings}`,
      { ...questionParams(some, toMs), windows: windows.map((minutes) => minutesInMs(minutes)) },
    )
    for (const question of some) {
      const places = windows.indexOf(question.minutes) + 1
      const own = rows.filter(
        (row) => row.bundle_identifier === question.bundle && row.place <= places,
      )
      answers.set(question.id, count.answer(own, question))
    }
  }
  return answers
}
