import type { ClickHouse, QueryParams } from '@intake/clickhouse'
import type { RecordKind } from '@intake/contract'
import { orderedVersion } from '@intake/schema'
import type { TimeWindow } from './period.ts'

export type RecordReader = Pick<ClickHouse, 'query' | 'lines'>

/** A longer name from a client is cut. */
export const nameMax = 300
/** SQL for a name, cut so that a longer one can be told from one of `nameMax` characters. */
export const cutName = (name: string): string => `substringUTF8(${name}, 1, ${nameMax + 1})`

/** A search for a name that was cut finds nothing, so it is no link. */
export const isCutName = (name: string): boolean => Array.from(name).length > nameMax

/** SQL for the name of the newest of `versions`, an array of pairs of code and name. */
export const newestOf = (versions: string): string =>
  cutName(`arraySort(one -> ${orderedVersion('one.1', 'one.2')}, ${versions})[-1].2`)

/** SQL for the hours that lists of applications and findings are about. */
export const inMonth = "hour >= now('UTC') - INTERVAL 30 DAY"

export const ofApplication = (application: string | undefined): string =>
  application === undefined ? '1' : 'bundle_identifier = {application:String}'

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
  /** Size in pixels; null if no console has examined the picture yet, or it cannot be read. */
  width: number | null
  height: number | null
  /** Null if no console has made a thumbnail yet, or if none can be made. */
  thumbnail_key: string | null
  /** Why it has no thumbnail (docs/pictures.md); null if it has one or was not examined yet. */
  error: string | null
}

interface RecordSummary extends RecordHead {
  unique_user_id: string
  version: string | null
  os: string | null
  model: string | null
  country: string | null
}

export interface FeedbackSummary extends RecordSummary {
  email: string | null
  text_start: string
  /** The number of characters. */
  text_length: number
  attachments: Attachment[]
}

export interface EventSummary extends RecordSummary {
  received_at: string
  event: string
  /** The beginning of the params, as JSON. */
  params_start: string
}

/** All columns of a record, by name; integers beyond 2^53 are `bigint`s. */
export interface FullRecord {
  kind: RecordKind
  columns: RecordHead & Record<string, unknown>
}

export interface Found<Row> {
  rows: Row[]
  hasMore: boolean
  /** The part of the period that was not searched, because the search took too long. */
  unread?: TimeWindow
}

export interface NumberedPage<Row> {
  rows: Row[]
  /** From 1. */
  number: number
  hasMore: boolean
}

export const pageRows = 100

/** @param sql without `LIMIT` and settings */
export async function readPage<Row>(
  reader: RecordReader,
  number: number,
  sql: string,
  params: QueryParams = {},
): Promise<NumberedPage<Row>> {
  const rows = await reader.query<Row>(`${sql} LIMIT ${pageRows + 1} OFFSET {offset:UInt32}`, {
    ...params,
    offset: (number - 1) * pageRows,
  })
  return { rows: rows.slice(0, pageRows), number, hasMore: rows.length > pageRows }
}

const limits =
  'max_execution_time = 10, max_memory_usage = 536870912, max_threads = 2, max_result_rows = 1000'

/** Limits each query, within the limits of the ClickHouse user `reader`, who cannot raise them. */
export function withLimits(reader: RecordReader): RecordReader {
  const limited = (sql: string) =>
    `${sql}${sql.includes(' SETTINGS ') ? ',' : ' SETTINGS'} ${limits}`
  return {
    query: (sql, params) => reader.query(limited(sql), params),
    lines: (sql, params) => reader.lines(limited(sql), params),
  }
}
