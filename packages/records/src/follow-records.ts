import { setTimeout as pause } from 'node:timers/promises'
import {
  ClickHouseError,
  type ClickHouse,
  type QueryParams,
  type RecordTable,
} from '@intake/clickhouse'
import { dayMs, limits } from '@intake/contract'
import { identity } from '@intake/schema'
import { rowsAfter } from './rows-after.ts'

/** Which records are followed. Texts must match exactly. */
export interface FollowFilter {
  bundle?: string | undefined
  event?: string | undefined
  /** UUID. */
  device?: string | undefined
  user?: string | undefined
  /** Id of an API key. */
  key?: string | undefined
}

/** A part of the results of a poll. */
export interface Followed {
  lines: string[]
  /** Every record that arrived earlier is among the lines. Only in the last result of a poll. */
  completeUntil: string | undefined
  /** How far the watermark is behind, in the last result of a poll; otherwise 0. */
  behindSeconds: number
}

export interface FollowOptions {
  clickhouse: Pick<ClickHouse, 'query' | 'lines'>
  kind: RecordTable
  filter: FollowFilter
  /** A UTC time as ClickHouse prints it. Records that arrived earlier are left out. */
  since: string
  /** The columns of a line. */
  columns: string
  /** Ends following, even while ClickHouse executes a query. */
  signal: AbortSignal
}

const pauseMs = 1_000
/** The minimum pause after a poll, as a multiple of its duration. */
const pausePerPoll = 2
const pageRows = 20_000
/** The maximum number of records that one statement selects by their time of arrival. */
const recordsMax = 2_000
/** Ids are in the URL of a statement, so they must not be many. */
const idsMax = 200
/** A statement selects by arrival only if it reads at most so many records per wanted one. */
const readPerWanted = 2
/**
 * The time of a record may be so much earlier than its arrival: it may be `eventAgeMs` old at first,
 * and a repeat within `keyDays` has the time of its first attempt.
 */
export const ageDays = (kind: RecordTable) => limits.eventAgeMs / dayMs + limits.keyDays[kind]
const filterConditions: Record<keyof FollowFilter, string> = {
  bundle: 'bundle_identifier = {bundle:String}',
  event: 'event = {event:String}',
  device: 'device_uuid = {device:UUID}',
  user: 'unique_user_id = {user:String}',
  key: 'api_key_id = {key:String}',
}

const arrivalOrder = ['received_at', 'time', 'id', 'device_uuid', 'bundle_identifier'] as const
type Key = Record<(typeof arrivalOrder)[number], string>

/**
 * Follows records as they become visible: each is returned once, and none is left out. A record may
 * become visible long after it has arrived. Only records that arrived before the watermark are
 * certainly all visible, so each poll starts at the watermark of the previous poll. Ends when the
 * signal is aborted.
 *
 * @throws {ClickHouseError} when a poll fails. A new call with the last `completeUntil` as `since`
 *   leaves out no record, but returns some records again
 */
export async function* followRecords(options: FollowOptions): AsyncGenerator<Followed> {
  try {
    yield* pollRecords(options)
  } catch (error) {
    if (!options.signal.aborted) throw error
  }
}

async function* pollRecords(options: FollowOptions): AsyncGenerator<Followed> {
  const { since, signal } = options
  /** When returned records arrived, as long as a poll may find them again. */
  const shown = new Map<string, string>()
  let from = since
  while (!signal.aborted) {
    const began = performance.now()
    const { until, behind } = await readWatermark(options)
    for await (const keys of readKeys(options, from)) {
      for (const some of groupUnseen(keys, (key) => shown.has(identityOf(key)))) {
        for await (const { lines, keys: read } of readParts(options, some)) {
          for (const key of read) shown.set(identityOf(key), key.received_at)
          yield { lines, completeUntil: undefined, behindSeconds: 0 }
          if (signal.aborted) return
        }
      }
    }
    // Every record that arrived before `until` was visible when `until` was read. This poll read
    // the records later, so it has found all of these.
    if (until !== undefined && until > from) from = until
    for (const [key, receivedAt] of shown) if (receivedAt < from) shown.delete(key)
    yield { lines: [], completeUntil: until, behindSeconds: behind }
    const took = performance.now() - began
    await pause(Math.max(pauseMs, pausePerPoll * took), undefined, { signal })
  }
}

/**
 * Groups the records that were not returned yet; `readRecords` then reads each group with one
 * statement. A group with more than `idsMax` records can be read by arrival, because few other
 * records arrived between its first and its last record.
 */
function* groupUnseen(keys: readonly Key[], isSeen: (key: Key) => boolean): Generator<Key[]> {
  const unseen = keys.flatMap((key, place) => (isSeen(key) ? [] : [{ key, place }]))
  for (let at = 0; at < unseen.length;) {
    let group = unseen.slice(at, at + recordsMax)
    const span = (group.at(-1)?.place ?? 0) - (group[0]?.place ?? 0) + 1
    if (span > readPerWanted * group.length) group = group.slice(0, idsMax)
    at += group.length
    yield group.map(({ key }) => key)
  }
}

const identityOf = ({ bundle_identifier, id, device_uuid }: Key) =>
  `${id} ${device_uuid} ${bundle_identifier}`

async function readWatermark({
  clickhouse,
  kind,
  signal,
}: FollowOptions): Promise<{ until: string | undefined; behind: number }> {
  const [row] = await clickhouse.query<{ until: string; behind: number }>(
    `SELECT visible_until AS until, dateDiff('second', visible_until, now64(3, 'UTC')) AS behind
     FROM intake.watermark WHERE kind = {kind:String}`,
    { kind },
    { signal },
  )
  return { until: row?.until, behind: row?.behind ?? 0 }
}

/**
 * Reads the identities of the matching records that arrived since `from`, in the order of their
 * arrival. The time of the records is limited, too: the view of feedback joins `attachments_raw`,
 * whose rows have the time of their record but no time of arrival. Without this limit, the view
 * would read all rows of that table.
 */
async function* readKeys(options: FollowOptions, from: string): AsyncGenerator<Key[]> {
  const { clickhouse, kind, filter, signal } = options
  const { conditions, params } = conditionsOf(filter)
  let after: Key | undefined
  for (;;) {
    const place = rowsAfter(arrivalOrder, after)
    const keys: Key[] = await clickhouse.query<Key>(
      `SELECT ${identity}, received_at FROM intake.${kind}
       WHERE received_at >= {from:DateTime64(3, 'UTC')}
         AND time >= {from:DateTime64(3, 'UTC')} - toIntervalDay(${ageDays(kind)}) AND ${place.sql}
         ${conditions.map((condition) => `AND ${condition}`).join(' ')}
       ORDER BY ${arrivalOrder.join(', ')} LIMIT ${pageRows}`,
      { ...params, ...place.params, from: after?.received_at ?? from },
      { signal },
    )
    yield keys
    after = keys.at(-1)
    if (after === undefined || keys.length < pageRows) return
  }
}

/** The records of one statement. They become one text, of which Node allows half a gigabyte. */
const resultBytesMax = 128 * 1024 * 1024
/** ClickHouse's code for a result that is larger than `max_result_bytes`. */
const resultTooLarge = 396

const isTooLarge = (error: unknown): boolean =>
  error instanceof ClickHouseError && (error.isTooLarge || error.code === resultTooLarge)

/** Reads these records; if they are too large for one statement, each half of them by itself. */
async function* readParts(
  options: FollowOptions,
  keys: readonly Key[],
): AsyncGenerator<{ lines: string[]; keys: readonly Key[] }> {
  let lines: string[] | undefined
  try {
    lines = await readRecords(options, keys)
  } catch (error) {
    if (!isTooLarge(error) || keys.length === 1) throw error
  }
  if (lines !== undefined) {
    yield { lines, keys }
    return
  }
  const middle = Math.ceil(keys.length / 2)
  yield* readParts(options, keys.slice(0, middle))
  yield* readParts(options, keys.slice(middle))
}

/**
 * Reads the columns of these records, in the order of their arrival. Records that were erased
 * meanwhile are missing. Reads few records by their ids, and many by their arrival.
 */
async function readRecords(options: FollowOptions, keys: readonly Key[]): Promise<string[]> {
  const { clickhouse, kind, columns, filter, signal } = options
  const times = keys.map(({ time }) => time).toSorted()
  const isFew = keys.length <= idsMax
  const { conditions, params } = conditionsOf(filter)
  const own = isFew ? ['id IN {ids:Array(UUID)}'] : []
  const lines = await clickhouse.lines(
    `SELECT concat(toString(id), ' ', toString(device_uuid), ' ', bundle_identifier) AS key_of_line, ${columns}
     FROM intake.${kind}
     WHERE ${[
       "received_at >= {first_received:DateTime64(3, 'UTC')} AND received_at <= {last_received:DateTime64(3, 'UTC')}",
       "time >= {first:DateTime64(3, 'UTC')} AND time <= {last:DateTime64(3, 'UTC')}",
       ...own,
       ...conditions,
     ].join(' AND ')}
     ORDER BY received_at, time, id, device_uuid
     SETTINGS max_result_bytes = ${resultBytesMax}`,
    {
      ...params,
      first: times[0],
      last: times.at(-1),
      first_received: keys[0]?.received_at,
      last_received: keys.at(-1)?.received_at,
      ...(isFew && { ids: keys.map(({ id }) => id) }),
    },
    { signal },
  )
  const wanted = new Set(keys.map(identityOf))
  return lines.flatMap((line) => {
    const [, key = '""', rest = ''] = keyOfLine.exec(line) ?? []
    return wanted.has(JSON.parse(key) as string) ? [`{${rest}`] : []
  })
}

/** Separates the identity at the beginning of a line from the rest of the line. */
const keyOfLine = /^\{"key_of_line":("(?:[^"\\]|\\.)*"),(.*)$/s

function conditionsOf(filter: FollowFilter): { conditions: string[]; params: QueryParams } {
  const names = (Object.keys(filterConditions) as (keyof FollowFilter)[]).filter(
    (name) => filter[name] !== undefined,
  )
  return {
    conditions: names.map((name) => filterConditions[name]),
    params: Object.fromEntries(names.map((name) => [name, filter[name]])),
  }
}
