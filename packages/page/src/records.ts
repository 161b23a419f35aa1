import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import { limits, type RecordKind } from '@intake/contract'
import { readInWindows, type TimeWindow } from './read-in-windows.ts'
import { timeOfId, type Search } from './search.ts'

/** What the page needs of ClickHouse: read access to the views. */
export type RecordReader = Pick<ClickHouse, 'query'>

/** Identity and time of a record; times are UTC, `YYYY-MM-DD hh:mm:ss.mmm`. */
export interface RecordHead {
  id: string
  time: string
  bundle_identifier: string
  device_uuid: string
}

export interface Attachment {
  key: string
  content_type: string
  bytes: number
  sha256: string
}

export interface FeedbackSummary extends RecordHead {
  unique_user_id: string
  email: string | null
  /** Its beginning. */
  text_start: string
  /** In characters. */
  text_length: number
  os: string | null
  model: string | null
  version: string | null
  attachments: Attachment[]
}

export interface EventSummary extends RecordHead {
  event: string
  version: string | null
  /** Its beginning, as JSON. */
  params_start: string
}

/** All columns of a record, by name. */
export interface FullRecord {
  kind: RecordKind
  columns: RecordHead & Record<string, unknown>
}

export interface Found<Row> {
  rows: Row[]
  /** There are more rows after the last one. */
  hasMore: boolean
  /** Not searched, because the search took too long. */
  unread?: TimeWindow
}

export const pageRows = 50
const textStart = 1_000
const identity = 'bundle_identifier, time, id, device_uuid'
const order = ['time', 'id', 'device_uuid', 'bundle_identifier']
/** For one query; the user `analyst` may lower its limits. */
export const querySettings =
  'SETTINGS max_execution_time = 10, max_memory_usage = 536870912, max_threads = 2, ' +
  'max_result_rows = 1000'

const summaries = {
  feedback: `id, time, bundle_identifier, device_uuid, substringUTF8(unique_user_id, 1, 300) AS unique_user_id,
    email, substringUTF8(text, 1, ${textStart}) AS text_start, lengthUTF8(text) AS text_length,
    substringUTF8(device.os, 1, 100) AS os, substringUTF8(device.device_model, 1, 100) AS model,
    substringUTF8(device.version_name, 1, 100) AS version, attachments`,
  logs: `id, time, bundle_identifier, device_uuid, substringUTF8(event, 1, 300) AS event,
    substringUTF8(device.version_name, 1, 100) AS version,
    substringUTF8(toJSONString(params), 1, 300) AS params_start`,
} as const
export interface Summaries {
  feedback: FeedbackSummary
  logs: EventSummary
}

/** The newest records that match, at most a page of them. */
export async function listRecords<Kind extends RecordKind>(
  reader: RecordReader,
  kind: Kind,
  search: Search,
): Promise<Found<Summaries[Kind]>> {
  const afterMs = search.after && timeOfId(search.after.id)
  const end = Math.min(search.to?.getTime() ?? Infinity, (afterMs ?? Infinity) + 1)
  const { rows, unread } = await readInWindows({
    within: {
      from: Math.max(search.from?.getTime() ?? 0, limits.recordTimeMs.after),
      // The future is part of the first window: clocks of clients may be ahead.
      to: Math.min(end, Date.now() + limits.eventAheadMs),
    },
    rowsMax: pageRows + 1,
    read: (window, rowsMax) => readWindow(reader, kind, { search, window, rowsMax }),
  })
  const hasMore = rows.length > pageRows
  return { rows: rows.slice(0, pageRows), hasMore, ...(unread && { unread }) }
}

/** The events of a device nearest to a moment, newest first. */
export async function listEventsAround(
  reader: RecordReader,
  head: RecordHead,
  rowsMax: number,
): Promise<{ before: EventSummary[]; after: EventSummary[] }> {
  const moment = Date.parse(`${head.time.replace(' ', 'T')}Z`)
  const search: Search = { application: head.bundle_identifier, device: head.device_uuid }
  const of = (forwards: boolean) =>
    readInWindows({
      within: forwards
        ? { from: moment, to: Date.now() + limits.eventAheadMs }
        : { from: limits.recordTimeMs.after, to: moment },
      forwards,
      // The record itself may be among them.
      rowsMax: rowsMax + 1,
      read: (window, max) =>
        readWindow(reader, 'logs', { search, window, rowsMax: max, ascending: forwards }),
    })
  const [before, after] = await Promise.all([of(false), of(true)])
  const others = (rows: EventSummary[]) => rows.filter(({ id }) => id !== head.id).slice(0, rowsMax)
  return { before: others(before.rows), after: others(after.rows).toReversed() }
}

/** The keys are found first, so that the long columns of only these rows are read. */
async function readWindow<Kind extends RecordKind>(
  reader: RecordReader,
  kind: Kind,
  options: { search: Search; window: TimeWindow; rowsMax: number; ascending?: boolean },
): Promise<Summaries[Kind][]> {
  const { search, window, rowsMax, ascending = false } = options
  const { conditions, params } = conditionsOf(search)
  const period =
    "time >= {window_from:DateTime64(3, 'UTC')} AND time < {window_to:DateTime64(3, 'UTC')}"
  const sorted = order.map((name) => `${name} ${ascending ? 'ASC' : 'DESC'}`).join(', ')
  return reader.query<Summaries[Kind]>(
    `SELECT ${summaries[kind]}
     FROM intake.${kind}
     WHERE ${period} AND (${identity}) IN (
       SELECT ${identity} FROM intake.${kind}
       WHERE ${[period, ...conditions].join(' AND ')}
       ORDER BY ${sorted} LIMIT ${rowsMax}
     )
     ORDER BY ${sorted} LIMIT ${rowsMax}
     ${querySettings}`,
    { ...params, window_from: printTime(window.from), window_to: printTime(window.to) },
  )
}

function conditionsOf(search: Search): { conditions: string[]; params: QueryParams } {
  const { after, from: _from, to: _to, ...values } = search
  const names = Object.keys(values) as (keyof typeof values)[]
  const conditions = names.map((name) => conditionOf[name])
  if (after === undefined) return { conditions, params: values }
  return {
    conditions: [...conditions, afterCondition],
    params: {
      ...values,
      after_time: printTime(timeOfId(after.id) ?? 0),
      after_id: after.id,
      after_device: after.device,
      after_application: after.application,
    },
  }
}

const conditionOf = {
  application: 'bundle_identifier = {application:String}',
  version: 'device.version_name = {version:String}',
  event: 'event = {event:String}',
  user: 'unique_user_id = {user:String}',
  device: 'device_uuid = {device:UUID}',
  text:
    '(positionCaseInsensitiveUTF8(text, {text:String}) > 0' +
    " OR positionCaseInsensitiveUTF8(ifNull(email, ''), {text:String}) > 0)",
} as const
const afterCondition =
  `(${order.join(', ')}) < ({after_time:DateTime64(3, 'UTC')}, {after_id:UUID},` +
  ' {after_device:UUID}, {after_application:String})'

/** The records with this id; the same id can come from several devices. */
export async function findById(
  reader: RecordReader,
  kind: RecordKind,
  id: string,
): Promise<FullRecord[]> {
  const timeMs = timeOfId(id)
  if (timeMs === undefined) return []
  const rows = await reader.query<FullRecord['columns']>(
    `SELECT * FROM intake.${kind}
     WHERE time = {time:DateTime64(3, 'UTC')} AND id = {id:UUID}
     ORDER BY bundle_identifier, device_uuid LIMIT 10 ${querySettings}`,
    { time: printTime(timeMs), id },
  )
  return rows.map((columns) => ({ kind, columns }))
}

/** The identities of the records of a request, or of a client's `feedback.id`, newest first. */
export async function findByOtherId(
  reader: RecordReader,
  kind: RecordKind,
  id: string,
): Promise<Found<RecordHead>> {
  const condition =
    kind === 'feedback'
      ? '(request_id = {id:UUID} OR feedback_id = {id:UUID})'
      : 'request_id = {id:UUID}'
  const { rows, unread } = await readInWindows({
    within: { from: limits.recordTimeMs.after, to: Date.now() + limits.eventAheadMs },
    rowsMax: otherIdRows,
    read: ({ from, to }, rowsMax) =>
      reader.query<RecordHead>(
        `SELECT id, time, bundle_identifier, device_uuid FROM intake.${kind}
         WHERE time >= {from:DateTime64(3, 'UTC')} AND time < {to:DateTime64(3, 'UTC')} AND ${condition}
         ORDER BY time DESC, id DESC LIMIT ${rowsMax} ${querySettings}`,
        { id, from: printTime(from), to: printTime(to) },
      ),
  })
  return { rows, hasMore: false, ...(unread && { unread }) }
}
/** The entries of a batch are 500 at most. */
const otherIdRows = 500

/** As ClickHouse reads it, in UTC. */
export function printTime(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', '')
}
