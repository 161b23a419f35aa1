import { isoTime, sqlTime, type QueryParams } from '@intake/clickhouse'
import { limits, type RecordKind } from '@intake/contract'
import { identity } from '@intake/schema'
import { inWindow, windowParams, type TimeWindow } from './period.ts'
import { readInWindows } from './read-in-windows.ts'
import type { EventSummary, FeedbackSummary, Found, RecordHead, RecordReader } from './records.ts'
import { timeOfId, type Search } from './search.ts'

const pageRows = 50
/** At most this many events are shown before a record, and at most this many after it. */
export const eventsAroundMax = 25
const textStart = 1_000
const paramsStart = 600
const order = ['time', 'id', 'device_uuid', 'bundle_identifier']

const ofBoth = `id, time, bundle_identifier, device_uuid, country,
    substringUTF8(unique_user_id, 1, 300) AS unique_user_id,
    substringUTF8(device.version_name, 1, 100) AS version,
    substringUTF8(device.os, 1, 100) AS os, substringUTF8(device.device_model, 1, 100) AS model`
export const summaries = {
  feedback: `${ofBoth}, email, substringUTF8(text, 1, ${textStart}) AS text_start,
    lengthUTF8(text) AS text_length, attachments`,
  logs: `${ofBoth}, received_at, substringUTF8(event, 1, 300) AS event,
    substringUTF8(toJSONString(params), 1, ${paramsStart}) AS params_start`,
} as const
interface Summaries {
  feedback: FeedbackSummary
  logs: EventSummary
}

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
      // Includes the near future, because clocks of clients may be ahead.
      to: Math.min(end, Date.now() + limits.eventAheadMs),
    },
    rowsMax: pageRows + 1,
    read: (window, rowsMax) => readWindow(reader, kind, { search, window, rowsMax }),
  })
  const hasMore = rows.length > pageRows
  return { rows: rows.slice(0, pageRows), hasMore, ...(unread && { unread }) }
}

/** The events of the record's device nearest to it, newest first. */
export async function listEventsAround(
  reader: RecordReader,
  head: RecordHead,
): Promise<{ before: EventSummary[]; after: EventSummary[] }> {
  const moment = Date.parse(isoTime(head.time))
  const search: Search = { application: head.bundle_identifier, device: head.device_uuid }
  const of = (forwards: boolean) =>
    readInWindows({
      within: forwards
        ? { from: moment, to: Date.now() + limits.eventAheadMs }
        : { from: limits.recordTimeMs.after, to: moment },
      forwards,
      // One of the rows may be the record itself.
      rowsMax: eventsAroundMax + 1,
      read: (window, rowsMax) =>
        readWindow(reader, 'logs', { search, window, rowsMax, ascending: forwards }),
    })
  const [before, after] = await Promise.all([of(false), of(true)])
  const others = (rows: EventSummary[]) =>
    rows.filter(({ id }) => id !== head.id).slice(0, eventsAroundMax)
  return { before: others(before.rows), after: others(after.rows).toReversed() }
}

async function readWindow<Kind extends RecordKind>(
  reader: RecordReader,
  kind: Kind,
  options: { search: Search; window: TimeWindow; rowsMax: number; ascending?: boolean },
): Promise<Summaries[Kind][]> {
  const { search, window, rowsMax, ascending = false } = options
  const orderBy = order.map((name) => `${name} ${ascending ? 'ASC' : 'DESC'}`).join(', ')
  const chosen = { ...whereOf(search, window), columns: summaries[kind], orderBy, rowsMax }
  return readLongRows(reader, kind, chosen)
}

/** So many rows of a megabyte, which anybody with a key can send, take 130 MB to read. */
const longRowsMax = 25

/** Finds the first rows that match, then reads columns that can be long, a few rows at a time. */
export async function readLongRows<Row>(
  reader: RecordReader,
  kind: RecordKind,
  options: ReturnType<typeof whereOf> & { columns: string; orderBy: string; rowsMax: number },
): Promise<Row[]> {
  const { columns, where, params, orderBy, rowsMax } = options
  const heads = await reader.query<RecordHead>(
    `SELECT ${identity} FROM intake.${kind} WHERE ${where} ORDER BY ${orderBy} LIMIT ${rowsMax}`,
    params,
  )
  const rows: Row[] = []
  for (let at = 0; at < heads.length; at += longRowsMax) {
    const some = heads.slice(at, at + longRowsMax)
    const found = reader.query<Row>(
      `SELECT ${columns} FROM intake.${kind}
       WHERE time IN {times:Array(DateTime64(3, 'UTC'))} AND (${identity}) IN (
         SELECT one.1, one.2, one.3, one.4 FROM (SELECT arrayJoin(arrayZip(
           {applications:Array(String)}, {times:Array(DateTime64(3, 'UTC'))}, {ids:Array(UUID)},
           {devices:Array(UUID)})) AS one))
       ORDER BY ${orderBy} LIMIT ${some.length}`,
      {
        applications: some.map((head) => head.bundle_identifier),
        times: some.map(({ time }) => time),
        ids: some.map(({ id }) => id),
        devices: some.map((head) => head.device_uuid),
      },
    )
    rows.push(...(await found))
  }
  return rows
}

export function whereOf(
  search: Search,
  window: TimeWindow,
  column: 'time' | 'received_at' = 'time',
): { where: string; params: QueryParams } {
  const { after, from: _from, to: _to, without, paths = {}, ...equal } = search
  const names = Object.keys(equal) as (keyof typeof equal)[]
  const conditions: string[] = names
    .filter((name) => equal[name] !== undefined)
    .map((name) => conditionOf[name])
  const params: QueryParams = { ...equal, ...windowParams(window) }
  if (without !== undefined) conditions.push(withoutCondition[without])
  for (const [index, [name, value]] of Object.entries(paths).entries()) {
    const [, root = '', path = ''] = /^(params|extra)\.(.*)$/s.exec(name) ?? []
    // The path is a parameter, because a client may have given it any name.
    conditions.push(
      `toString(getSubcolumn(${root}, {path_${index}:String})) = {value_${index}:String}`,
    )
    params[`path_${index}`] = path
    params[`value_${index}`] = value
  }
  if (after !== undefined) {
    conditions.push(afterCondition)
    params['after_time'] = sqlTime(new Date(timeOfId(after.id) ?? 0))
    params['after_id'] = after.id
    params['after_device'] = after.device
    params['after_application'] = after.application
  }
  return { where: [inWindow(column), ...conditions].join(' AND '), params }
}

const withoutCondition = {
  version: "ifNull(device.version_name, '') = ''",
  event: "event = ''",
} as const
const conditionOf = {
  application: 'bundle_identifier = {application:String}',
  version: 'device.version_name = {version:String}',
  event: 'event = {event:String}',
  user: 'unique_user_id = {user:String}',
  device: 'device_uuid = {device:UUID}',
  key: 'api_key_id = {key:String}',
  has: "if({has:String} = 'email', email IS NOT NULL, attachment_count > 0)",
  text:
    '(positionCaseInsensitiveUTF8(text, {text:String}) > 0' +
    " OR positionCaseInsensitiveUTF8(ifNull(email, ''), {text:String}) > 0)",
} as const
const afterCondition =
  `(${order.join(', ')}) < ({after_time:DateTime64(3, 'UTC')}, {after_id:UUID},` +
  ' {after_device:UUID}, {after_application:String})'
