import { sqlTime } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { ageDays } from '../follow-records.ts'

/** What an alert counts: events of an application in a window that ends with the evaluation. */
export interface EventQuestion {
  id: string
  bundle: string
  event: string
  /** Empty: all versions. */
  versionName: string
  minutes: number
}

/** Questions of one statement: their names are parameters, which ClickHouse limits to 128 KiB. */
const questionsMax = 100
const minuteMs = 60_000

/** Divides questions among statements, those of an application together. */
export function divide<One extends EventQuestion>(questions: readonly One[]): One[][] {
  const sorted = questions.toSorted(
    (a, b) => Number(a.bundle > b.bundle) - Number(a.bundle < b.bundle),
  )
  const parts: One[][] = []
  for (let at = 0; at < sorted.length; at += questionsMax) {
    parts.push(sorted.slice(at, at + questionsMax))
  }
  return parts
}

export const askedEvent = "if(event IN {events:Array(String)}, event, '')"
/** Without versions, ClickHouse need not read them. */
export const askedVersion = (questions: readonly EventQuestion[]) =>
  questions.some(({ versionName }) => versionName !== '')
    ? "if(ifNull(device.version_name, '') IN {versions:Array(String)}, ifNull(device.version_name, ''), '')"
    : "''"

/** The parameters of `askedEvent`, `askedVersion` and `arrivedInWindow`. */
export function questionParams(questions: readonly EventQuestion[], toMs: number) {
  const distinct = (texts: string[]) => [...new Set(texts)]
  return {
    applications: distinct(questions.map(({ bundle }) => bundle)),
    events: distinct(questions.map(({ event }) => event)),
    ...(questions.some(({ versionName }) => versionName !== '') && {
      versions: distinct(questions.map(({ versionName }) => versionName)),
    }),
    ...windowParams(Math.max(...questions.map((one) => one.minutes)), toMs),
  }
}

export function windowParams(minutes: number, toMs: number) {
  const fromMs = toMs - minutes * minuteMs
  return {
    oldest: sqlTime(new Date(fromMs - ageDays('logs') * dayMs)),
    from: sqlTime(new Date(fromMs)),
    to: sqlTime(new Date(toMs)),
  }
}

/** Records of the applications that arrived in the longest window; the time prunes partitions. */
export const arrivedInWindow = `bundle_identifier IN {applications:Array(String)}
  AND time >= {oldest:DateTime64(3, 'UTC')}
  AND received_at >= {from:DateTime64(3, 'UTC')} AND received_at < {to:DateTime64(3, 'UTC')}`

export const querySettings = 'SETTINGS max_threads = 2, max_execution_time = 10'
export const minutesInMs = (minutes: number) => minutes * minuteMs
