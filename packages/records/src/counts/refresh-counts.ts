import { ClickHouseError, insertLines, isoTime, sqlTime, type ClickHouse } from '@intake/clickhouse'
import { dayMs } from '@intake/contract'
import { systemClock, type Clock } from '@intake/runtime'
import { countDays } from './count-days.ts'
import { countHours } from './count-hours.ts'

/** The counts: `hours` fills `intake.hours_raw`, and `catalogue` fills `intake.days_raw`. */
export const countNames = ['hours', 'catalogue'] as const
export type CountName = (typeof countNames)[number]

/** An hour or day of an application that must be counted again. */
interface Stale {
  bundle_identifier: string
  /** Beginning of the hour or day in UTC, as ClickHouse prints it. */
  period: string
  /** 1 if `recountHours` has marked it. */
  is_marked: 0 | 1
  /** The number of its turn, from 1: the lowest among those of the API keys that sent to it. */
  turn: number
  /** How many new events the application has. */
  of_application: number
}

const tables = {
  hours: { table: 'hours', column: 'hour', period: 'toStartOfHour', sql: () => countHours },
  catalogue: { table: 'days', column: 'day', period: 'toDate', sql: countDays },
} as const

/** A mark has the time when its INSERT began, so it may become visible later than that. */
const recountMarginSeconds = 600
const querySettings = 'SETTINGS max_threads = 2, max_execution_time = 110'
/** An application that takes longer than this is counted alone. */
const sharedSettings = 'SETTINGS max_threads = 2, max_execution_time = 5'
/** Only the names that are found first are counted, if an application has too many. */
const boundedSettings = `${querySettings}, max_rows_to_group_by = 50000, group_by_overflow_mode = 'any'`
/** What could not be counted is tried again after this time at the earliest. */
const postponedMsMin = 10 * 60_000
/** The maximum number of hours or days of applications that one call counts. */
const staleMax = 200_000
/** The maximum number that one call finds. A reader gets no result of more than a million rows. */
const foundMax = 900_000
/** The maximum size of what one call finds. Identifiers of applications have up to a kilobyte. */
const foundBytesMax = 64 * 1024 * 1024
/** The number of statements that find together what one of them cannot find. */
const slices = 16
/** Identifiers are one parameter, and ClickHouse refuses parameters of more than 128 KiB. */
const applicationsMax = 100
/** An application with more new events than this is counted alone, after all others. */
const sharedRecordsMax = 20_000
/** So many hours or days are counted at once, within this time; the others after them. */
const urgent = { max: 2_000, msMax: 15_000 }

/**
 * Counts again the hours or days that have changed since the last call: records arrived in them, or
 * were erased or replayed. Each hour or day is counted as a whole, from the views, and its new
 * count replaces the former one; so the counts are exact even after repeats, late events and
 * erasures. Several processes may call this at the same time.
 *
 * API keys take turns, and so do the applications of a key. What is beyond the first 2,000 hours or
 * days is counted for a limited time, and so are applications with many new events, or with a day
 * that takes long, each alone. So they delay no others; what is left is counted ten minutes later.
 *
 * An application whose day cannot be counted, for example because ClickHouse lacks the memory, does
 * not delay the others: what fits is counted, and its day is marked in `intake.recounts` and tried
 * again later, after a pause that grows with its age. The first such error is thrown when everything
 * else has been counted.
 *
 * @param options.reader may read the views
 * @param options.store may insert into the tables of counts
 * @param options.lateMsMax how long to count what is beyond the first, in ms, and then as long again
 * applications alone; by default a minute
 * @param options.onLate called with the time that was spent on both or in vain, in ms
 * @returns the number of hours or days that were counted
 */
export async function refreshCounts(options: {
  reader: Pick<ClickHouse, 'query' | 'lines'>
  store: Pick<ClickHouse, 'insertRows'>
  name: CountName
  lateMsMax?: number
  onLate?: (ms: number) => void
  clock?: Pick<Clock, 'now'>
}): Promise<number> {
  const { reader, store, name, lateMsMax = 60_000 } = options
  const { onLate = () => undefined, clock = systemClock } = options
  const state = await readState(reader, name)
  const found = await findStale(reader, name, state)
  const stale = found.splice(0, staleMax)
  const sql = tables[name].sql(state.hasAllValues === 1)
  const nowMs = Date.parse(isoTime(state.now))
  const failures: Failure[] = []
  // Each row has the time before any was read as its version. If two calls count an hour, that of
  // the later call remains; it has everything that the earlier one had to count.
  const isMany = ({ of_application: records }: Stale) => records > sharedRecordsMax
  const large = new Set(stale.filter(isMany).map((one) => one.bundle_identifier))
  // Later than the last, also after the clock stepped back: otherwise its counts would remain.
  const ver = Math.max(nowMs, Date.parse(isoTime(state.lastNow)) + 1)
  const all: Counting = { ...options, clock, sql, ver, failures, large, lostMs: 0 }
  const late: Stale[] = []
  const isLarge = (one: Stale) => large.has(one.bundle_identifier)
  const shared = stale.filter((one) => !isLarge(one))
  const marked = shared.splice(0, shared.filter((one) => one.is_marked === 1).length)
  const others = shared.splice(Math.max(0, urgent.max - marked.length))

  async function countInTurn(those: readonly Stale[], turn: Turn): Promise<void> {
    const { endsAt, rest, isAlone = false } = turn
    const together = isAlone ? 1 : applicationsMax
    // The newest days come first, because people look at them most.
    for (const [day, applications] of byDay(those)) {
      for (let at = 0; at < applications.length; at += together) {
        const some = applications.slice(at, at + together)
        const next = some.filter(([one]) => isAlone || !isLarge(one!))
        if (clock.now() > endsAt) rest.push(...next.flat())
        else await countApplications(all, day, next, isAlone)
      }
    }
  }
  await countInTurn(marked, { endsAt: Infinity, rest: others })
  await countInTurn(shared, { endsAt: clock.now() + urgent.msMax, rest: others })
  const sharedLostMs = all.lostMs
  const began = clock.now()
  await countInTurn(others, { endsAt: began + lateMsMax, rest: late })
  const alone = { endsAt: clock.now() + lateMsMax, rest: late, isAlone: true }
  await countInTurn(stale.filter(isLarge), alone)
  onLate(clock.now() - began + sharedLostMs)
  const growing = (beginsMs: number) => Math.max(postponedMsMin, (nowMs - beginsMs) / 2)
  await postpone(store, { stale: failures.flatMap((one) => one.stale), nowMs, pauseMs: growing })
  await postpone(store, { stale: [...found, ...late], nowMs, pauseMs: () => postponedMsMin })
  const counted_until = isoTime(state.until)
  const counted_at = new Date(ver).toISOString()
  const counted = JSON.stringify({ name, counted_until, counted_at })
  await insertLines(store, { table: 'counted', lines: [counted] })
  if (failures[0] !== undefined) throw failures[0].error
  return stale.length - late.length
}

interface Turn {
  /** When to stop, in ms of the clock. */
  endsAt: number
  /** Gets what is left then. */
  rest: Stale[]
  /** Whether a statement counts one application, otherwise `applicationsMax`. */
  isAlone?: boolean
}

type Counting = Parameters<typeof refreshCounts>[0] & {
  clock: Pick<Clock, 'now'>
  sql: string
  ver: number
  failures: Failure[]
  /** The applications that are counted alone. */
  large: Set<string>
  /** The time of statements that were too slow. */
  lostMs: number
}

interface Failure {
  stale: readonly Stale[]
  error: ClickHouseError
}

/**
 * A mark of what is counted later is one second into the hour, so that it hides none of an erasure.
 */
async function postpone(
  store: Pick<ClickHouse, 'insertRows'>,
  options: { stale: readonly Stale[]; nowMs: number; pauseMs: (beginsMs: number) => number },
): Promise<void> {
  const { stale, nowMs, pauseMs } = options
  const marks = stale.map(({ bundle_identifier, period }) => {
    const beginsMs = Date.parse(isoTime(period.length === 10 ? `${period} 00:00:00` : period))
    return JSON.stringify({
      bundle_identifier,
      hour: new Date(beginsMs + 1_000).toISOString(),
      asked_at: new Date(nowMs + pauseMs(beginsMs)).toISOString(),
    })
  })
  await insertLines(store, { table: 'recounts', lines: marks })
}

/** Groups stale hours or days by day, the newest first, then by application. */
function byDay(stale: readonly Stale[]): [day: string, applications: Stale[][]][] {
  const days = new Map<string, Map<string, Stale[]>>()
  const newestFirst = (a: Stale, b: Stale) =>
    Number(a.period < b.period) - Number(a.period > b.period)
  for (const one of stale.toSorted(newestFirst)) {
    const day = one.period.slice(0, 10)
    const applications = days.get(day) ?? new Map<string, Stale[]>()
    const periods = applications.get(one.bundle_identifier) ?? []
    days.set(day, applications.set(one.bundle_identifier, periods))
    periods.push(one)
  }
  return Array.from(days, ([day, applications]) => [day, [...applications.values()]])
}

/**
 * Counts some applications on a day. If one statement cannot count them, each half of the
 * applications is counted by itself; one that is too slow is added to `large`. An application that
 * cannot be counted alone is added to `failures`, and counted within bounds (see `boundedSettings`)
 * if that is possible.
 */
async function countApplications(
  counting: Counting,
  day: string,
  applications: readonly Stale[][],
  isAlone = false,
): Promise<void> {
  const { reader, store, name, sql, ver, clock } = counting
  const [first] = applications
  if (first === undefined) return
  const began = clock.now()
  const countAll = async (settings: string) => {
    const stale = applications.flat()
    const lines = await count(reader, { name, sql: `${sql} ${settings}`, day, stale, ver })
    await insertLines(store, { table: tables[name].table, lines })
  }
  try {
    await countAll(isAlone ? querySettings : sharedSettings)
  } catch (error) {
    if (!isTooMuch(error)) throw error
    const isSlow = !isAlone && tooSlow.has(error.code)
    if (isSlow) counting.lostMs += clock.now() - began
    if (applications.length === 1) {
      if (isSlow) return void counting.large.add(first[0]!.bundle_identifier)
      counting.failures.push({ stale: first, error })
      await countAll(boundedSettings).catch((again: unknown) => {
        if (!isTooMuch(again)) throw again
      })
      return
    }
    const middle = Math.ceil(applications.length / 2)
    await countApplications(counting, day, applications.slice(0, middle))
    await countApplications(counting, day, applications.slice(middle))
  }
}

/** Codes of ClickHouse: too slow, and the result too large. */
const tooSlow: ReadonlySet<number | undefined> = new Set([159, 160])
const tooMuch: ReadonlySet<number | undefined> = new Set([...tooSlow, 396])

/** Whether fewer applications in one statement might succeed. */
const isTooMuch = (error: unknown): error is ClickHouseError =>
  error instanceof ClickHouseError && (error.kind === 'split' || tooMuch.has(error.code))

interface State {
  /** Every record that arrived before this time is visible. */
  until: string
  now: string
  /** The value that `until` had in the last call of `refreshCounts`; `never` if it is in the future. */
  lastUntil: string
  /** When that call began; in the future if the clock has stepped back since. */
  lastNow: string
  /** 1 if ClickHouse has the function `JSONAllValues`, else 0. */
  hasAllValues: number
}

/** A time before all records, if nothing is counted yet or there is no watermark. */
const never = "toDateTime64(0, 3, 'UTC')"

async function readState(reader: Pick<ClickHouse, 'query'>, name: CountName): Promise<State> {
  const [state] = await reader.query<State>(
    `SELECT
       ifNull((SELECT max(visible_until) FROM intake.watermark WHERE kind = 'logs'), ${never}) AS until,
       now64(3, 'UTC') AS now,
       ifNull((SELECT max(counted_until) FROM intake.counted WHERE name = {name:String}), ${never}) AS counted,
       if(counted > now + toIntervalMinute(1), ${never}, counted) AS lastUntil,
       ifNull((SELECT max(counted_at) FROM intake.counted WHERE name = {name:String}), ${never}) AS lastNow,
       (SELECT count() FROM system.functions WHERE name = 'JSONAllValues') AS hasAllValues`,
    { name },
  )
  if (state === undefined)
    throw new Error('ClickHouse returned no row for a statement without FROM')
  return state
}

/**
 * Finds what must be counted, except what was postponed and is not due: first what was marked by
 * `recountHours`, then in turns of the API keys what each has sent: the newest period of each
 * application, those with the most new events first, then the periods before. So somebody who
 * invents applications or times delays neither erasures nor other senders.
 *
 * If one statement cannot find it, for example because ClickHouse lacks the memory for the
 * identifiers of all applications, several do, each for some applications.
 */
async function findStale(
  reader: Pick<ClickHouse, 'query'>,
  name: CountName,
  { lastUntil, lastNow, now }: State,
): Promise<Stale[]> {
  const { period } = tables[name]
  const order = 'is_marked DESC, turn, of_application DESC, period DESC'
  const find = (of: number, index: number, settings: string) => {
    const isInSlice = `cityHash64(bundle_identifier) % ${of} = ${index}`
    return reader.query<Stale>(
      `SELECT bundle_identifier, period, is_marked, turn, of_application FROM (
         SELECT bundle_identifier, period, is_marked, turn, of_application,
           sum(length(bundle_identifier)) OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING) AS bytes
         FROM (
           SELECT bundle_identifier, period, max(marked) AS is_marked, min(turn_of_key) AS turn,
             sum(sum(records)) OVER (PARTITION BY bundle_identifier) AS of_application
           FROM (
             SELECT *, row_number() OVER (PARTITION BY api_key_id ORDER BY place, sent DESC) AS turn_of_key FROM (
               SELECT *, row_number() OVER (PARTITION BY api_key_id, bundle_identifier ORDER BY period DESC) AS place,
                 sum(records) OVER (PARTITION BY api_key_id, bundle_identifier) AS sent FROM (
                 SELECT bundle_identifier, api_key_id, ${period}(time) AS period, count() AS records, 0 AS marked FROM intake.logs
                 WHERE received_at >= {lastUntil:DateTime64(3, 'UTC')} AND ${isInSlice}
                   AND (bundle_identifier, ${period}(time)) NOT IN (
                     SELECT bundle_identifier, ${period}(hour) FROM intake.recounts
                     WHERE asked_at > {now:DateTime64(3, 'UTC')} AND toSecond(hour) = 1 ${name === 'catalogue' ? 'AND toHour(hour) = 0' : ''})
                 GROUP BY bundle_identifier, api_key_id, period
                 UNION ALL
                 SELECT bundle_identifier, '' AS api_key_id, ${period}(hour) AS period, 0 AS records, toSecond(hour) = 0 AS marked FROM intake.recounts
                 WHERE asked_at >= {lastNow:DateTime64(3, 'UTC')} - toIntervalSecond(${recountMarginSeconds})
                   AND asked_at <= {now:DateTime64(3, 'UTC')} AND ${isInSlice}
               )))
           GROUP BY bundle_identifier, period
         )
       ) WHERE bytes <= ${foundBytesMax / of} ORDER BY ${order} LIMIT ${foundMax / of}
       ${settings}`,
      { lastUntil, lastNow: lastNow > now ? lastUntil : lastNow, now },
    )
  }
  try {
    return await find(1, 0, querySettings)
  } catch (error) {
    if (!isTooMuch(error)) throw error
  }
  const found: Stale[] = []
  for (let index = 0; index < slices; index++) {
    found.push(...(await find(slices, index, boundedSettings)))
  }
  return found.toSorted(
    (a, b) => b.is_marked - a.is_marked || a.turn - b.turn || b.of_application - a.of_application,
  )
}

/**
 * Returns the counts as lines of JSON. An hour or day without records gets a row without events.
 */
async function count(
  reader: Pick<ClickHouse, 'query' | 'lines'>,
  options: { name: CountName; sql: string; day: string; stale: readonly Stale[]; ver: number },
): Promise<string[]> {
  const { name, sql, day, stale, ver } = options
  const { column } = tables[name]
  const identity = new RegExp(
    String.raw`^\{"bundle_identifier":("(?:[^"\\]|\\.)*"),"${column}":"([^"]*)"`,
  )
  const from = new Date(`${day}T00:00:00Z`)
  const lines = await reader.lines(sql, {
    from: sqlTime(from),
    to: sqlTime(new Date(from.getTime() + dayMs)),
    applications: [...new Set(stale.map(({ bundle_identifier }) => bundle_identifier))],
    ...(name === 'hours' && { hours: [...new Set(stale.map(({ period }) => period))] }),
    ver,
  })
  // Only the beginning of a line is parsed, because a line can be long.
  const counted = new Set(
    lines.map((line) => {
      const [, application, period] = identity.exec(line) ?? []
      // If a line without an identity were skipped, its period would be stored as empty.
      if (application === undefined) throw new Error('a count does not begin with its identity')
      return `${period} ${JSON.parse(application) as string}`
    }),
  )
  const empty = stale
    .filter(({ bundle_identifier, period }) => !counted.has(`${period} ${bundle_identifier}`))
    .map(({ bundle_identifier, period }) =>
      JSON.stringify({ bundle_identifier, [column]: period, ver }),
    )
  return [...lines, ...empty]
}
