import { hash } from 'node:crypto'
import {
  isoTime,
  sqlTime,
  type ClickHouse,
  type QueryParams,
  type RecordTable,
} from '@intake/clickhouse'
import { tombstoneVer } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { ageDays } from '../follow-records.ts'
import type { ExportFile, ExportScope, Part, Times } from './manifest.ts'

/** Where records are read from, and which. */
export interface Source {
  clickhouse: Pick<ClickHouse, 'query' | 'bytes'>
  scope: ExportScope
}

/** The rows of a file, and how they are divided if they are too many for one. */
export interface Rows {
  view: string
  /** A SELECT of the view's rows, from its FROM on. */
  from: string
  order: string
  params: QueryParams
  /** What is counted and divided instead, if it is another table than the view. */
  counted?: string
  /** The column by whose time they are divided. Those of the same unit stay together. */
  time: string
  unitMs: { first: number; ifTooLarge: number }
}

/** A file that ends without this was cut off: ClickHouse failed after it had begun to respond. */
const magic = Buffer.from('PAR1')
const parquet =
  "SETTINGS output_format_parquet_string_as_string = 1, output_format_parquet_compression_method = 'zstd' FORMAT Parquet"
export const order = 'received_at, time, id, device_uuid, bundle_identifier'
export const instant = (name: string): string => `{${name}:DateTime64(3, 'UTC')}`

export const inScope = ({ bundles }: ExportScope): string =>
  bundles.length === 0 ? '' : 'AND bundle_identifier IN {bundles:Array(String)}'

export function paramsOf(scope: ExportScope, times: Record<string, string>): QueryParams {
  const printed = Object.entries(times).map(([name, time]) => [name, sqlTime(new Date(time))])
  return { bundles: scope.bundles, kinds: scope.kinds, ...Object.fromEntries(printed) }
}

const inWindow = `received_at >= ${instant('from')} AND received_at < ${instant('until')}`

/** A limit of `time` spares ClickHouse the earlier months. Imported events may be of any age. */
const firstTime: Record<RecordTable, string> = {
  logs: `(SELECT min(time) FROM intake.logs_raw WHERE ${inWindow} AND ver < ${tombstoneVer})`,
  feedback: `${instant('from')} - toIntervalDay(${ageDays('feedback')})`,
}

/** The records of a kind that arrived in a time. */
export function arrivedRows({ scope }: Source, { kind, from, until }: Part): Rows {
  const view = `${scope.database}.${kind}_flat`
  return {
    view,
    from: `FROM ${view} WHERE ${inWindow} AND time >= ${firstTime[kind]} ${inScope(scope)}`,
    order,
    params: paramsOf(scope, { from, until }),
    time: 'received_at',
    unitMs: { first: 1_000, ifTooLarge: 1 },
  }
}

/** Up to when everything that was accepted is visible, for all kinds; undefined: nothing is yet. */
export async function readVisibleUntil({ clickhouse, scope }: Source): Promise<string | undefined> {
  const [row] = await clickhouse.query<{ until: string; kinds: number }>(
    `SELECT min(visible_until) AS until, count() AS kinds
     FROM intake.watermark WHERE kind IN {kinds:Array(String)}`,
    { kinds: scope.kinds },
  )
  return row?.kinds === scope.kinds.length ? isoTime(row.until) : undefined
}

/**
 * Reads the clock of ClickHouse, and the end of the window that begins at `from`: `visible`, but at
 * most the end of the day in which the first of its records arrived.
 */
export async function readWindowEnd(
  { clickhouse, scope }: Source,
  times: { from: string; visible: string },
): Promise<{ now: string; until: string }> {
  const tables = scope.kinds.map(
    (kind) =>
      `SELECT received_at FROM intake.${kind}_raw
       WHERE received_at >= ${instant('from')} AND ver < ${tombstoneVer}`,
  )
  const dayEnd = "toDateTime64(toStartOfDay(min(received_at)) + toIntervalDay(1), 3, 'UTC')"
  const visible = instant('visible')
  const [row] = await clickhouse.query<{ now: string; until: string }>(
    `SELECT now64(3, 'UTC') AS now,
       greatest(${instant('from')}, least(${visible}, if(count() = 0, ${visible}, ${dayEnd}))) AS until
     FROM (${tables.join(' UNION ALL ')})`,
    paramsOf(scope, times),
  )
  if (row === undefined) throw new Error('ClickHouse returned no row for an aggregate')
  return { now: isoTime(row.now), until: isoTime(row.until) }
}

export const countOf = ({ clickhouse }: Source, { from, counted = from, params }: Rows) =>
  countRows(clickhouse, counted, params)

/** Divides a part into some of about `rowsMax` rows; none if it has no row. */
export async function divide<P extends Times>(
  { clickhouse }: Source,
  division: { part: P; rows: Rows; rowsMax: number; unitMs?: number },
): Promise<P[]> {
  const { part, rows, rowsMax, unitMs = rows.unitMs.first } = division
  const { from, counted = from, time, params } = rows
  const units = await clickhouse.query<{ unit: number; number: number }>(
    `SELECT intDiv(toUnixTimestamp64Milli(${time}), ${unitMs}) AS unit, count() AS number
     ${counted} GROUP BY unit ORDER BY unit`,
    params,
  )
  if (units.length === 0) return []
  const begins = [part.from]
  let sum = 0
  for (const { unit, number } of units) {
    if (sum > 0 && sum + number > rowsMax) {
      begins.push(new Date(unit * unitMs).toISOString())
      sum = 0
    }
    sum += number
  }
  return begins.map((begin, place) => ({
    ...part,
    from: begin,
    until: begins[place + 1] ?? part.until,
  }))
}

/** Divides a part that needs too much memory; not if all its rows are of the same unit of time. */
export async function divideLarge<P extends Times>(
  source: Source,
  part: P,
  rows: Rows,
): Promise<P[]> {
  const rowsMax = Math.ceil((await countOf(source, rows)) / 8)
  return divide(source, { part, rows, rowsMax, unitMs: rows.unitMs.ifTooLarge })
}

export interface Content extends Omit<ExportFile, 'path'> {
  bytes: Buffer
}

/** Reads rows as Parquet, with ids as text: Parquet readers differ in how they show UUIDs. */
export async function readRows({ clickhouse }: Source, rows: Rows): Promise<Content> {
  const { view, from, order: by, params } = rows
  const columns = await clickhouse.query<{ name: string; type: string }>(`DESCRIBE TABLE ${view}`)
  const plain = columns.map(({ name, type }) =>
    type.includes('UUID') ? `toString(${name}) AS ${name}` : name,
  )
  const content = await clickhouse.bytes(
    `SELECT ${plain.join(', ')} FROM (SELECT * ${from}) ORDER BY ${by} ${parquet}`,
    params,
  )
  const { bytes } = content
  if (!bytes.subarray(0, 4).equals(magic) || !bytes.subarray(-4).equals(magic)) {
    throw new Error('ClickHouse ended in the middle of a Parquet file.')
  }
  return { ...content, sha256: hash('sha256', bytes) }
}
