import { hash } from 'node:crypto'
import {
  isoTime,
  sqlTime,
  type ClickHouse,
  type QueryParams,
  type RecordTable,
} from '@intake/clickhouse'
import { kinds, limits, type RecordKind } from '@intake/contract'
import { conditionOf, databaseOf, readAnalysts, tombstoneVer } from '@intake/schema'
import { countRows } from '../count-rows.ts'
import { ageDays } from '../follow-records.ts'
import type { ChangePart, Dropped, ExportFile, ExportScope, Part, Times } from './manifest.ts'

/** Where records are read from, and which. */
export interface Source {
  clickhouse: Pick<ClickHouse, 'query' | 'bytes'>
  scope: ExportScope
}

/** A file that ends without this was cut off: ClickHouse failed after it had begun to respond. */
const magic = Buffer.from('PAR1')
const parquet =
  "SETTINGS output_format_parquet_string_as_string = 1, output_format_parquet_compression_method = 'zstd' FORMAT Parquet"
const order = 'received_at, time, id, device_uuid, bundle_identifier'
const instant = (name: string) => `{${name}:DateTime64(3, 'UTC')}`

const inScope = ({ bundles }: ExportScope) =>
  bundles.length === 0 ? '' : 'AND bundle_identifier IN {bundles:Array(String)}'

function paramsOf(scope: ExportScope, times: Record<string, string>): QueryParams {
  const printed = Object.entries(times).map(([name, time]) => [name, sqlTime(new Date(time))])
  return { bundles: scope.bundles, kinds: scope.kinds, ...Object.fromEntries(printed) }
}

const inWindow = `received_at >= ${instant('from')} AND received_at < ${instant('until')}`

/** A limit of `time` spares ClickHouse the earlier months. Imported events may be of any age. */
const firstTime: Record<RecordTable, string> = {
  logs: `(SELECT min(time) FROM intake.logs_raw WHERE ${inWindow} AND ver < ${tombstoneVer})`,
  feedback: `${instant('from')} - toIntervalDay(${ageDays('feedback')})`,
}

const arrived = (kind: RecordTable, scope: ExportScope) =>
  `FROM ${scope.database}.${kind}_flat
   WHERE ${inWindow} AND time >= ${firstTime[kind]} ${inScope(scope)}`

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

interface Division {
  rowsMax: number
  unitMs: number
}

/**
 * Divides a part into some of about `rowsMax` records; none if it has no record. Records that
 * arrived in the same unit of time stay together.
 */
export async function divide(
  { clickhouse, scope }: Source,
  { kind, from, until }: Part,
  division: Division,
): Promise<Part[]> {
  const units = await clickhouse.query<Unit>(
    `SELECT ${unitOf('received_at', division)}, count() AS rows
     ${arrived(kind, scope)} GROUP BY unit ORDER BY unit`,
    paramsOf(scope, { from, until }),
  )
  return divideTimes({ from, until }, units, division).map((times) => ({ kind, ...times }))
}

interface Unit {
  unit: number
  rows: number
}

const unitOf = (time: string, { unitMs }: Division) =>
  `intDiv(toUnixTimestamp64Milli(${time}), ${unitMs}) AS unit`

function divideTimes(
  { from, until }: Times,
  units: readonly Unit[],
  { rowsMax, unitMs }: Division,
): Times[] {
  if (units.length === 0) return []
  const begins = [from]
  let rows = 0
  for (const one of units) {
    if (rows > 0 && rows + one.rows > rowsMax) {
      begins.push(new Date(one.unit * unitMs).toISOString())
      rows = 0
    }
    rows += one.rows
  }
  return begins.map((begin, place) => ({ from: begin, until: begins[place + 1] ?? until }))
}

/** Divides a part that needs too much memory; not if all its records arrived in one millisecond. */
export async function divideLarge(source: Source, part: Part): Promise<Part[]> {
  const rows = await countArrived(source, part)
  return divide(source, part, { rowsMax: Math.ceil(rows / 8), unitMs: 1 })
}

export const countArrived = (
  { clickhouse, scope }: Source,
  { kind, ...times }: Part,
): Promise<number> => countRows(clickhouse, arrived(kind, scope), paramsOf(scope, times))

export interface Content extends Omit<ExportFile, 'path'> {
  bytes: Buffer
}

/** Reads some rows of a view, with ids as text: Parquet readers differ in how they show UUIDs. */
async function readParquet(
  { clickhouse }: Source,
  select: { view: string; rows: string; order: string; params: QueryParams },
): Promise<Content> {
  const { view, rows: from, params } = select
  const columns = await clickhouse.query<{ name: string; type: string }>(`DESCRIBE TABLE ${view}`)
  const plain = columns.map(({ name, type }) =>
    type.includes('UUID') ? `toString(${name}) AS ${name}` : name,
  )
  const { bytes, rows } = await clickhouse.bytes(
    `SELECT ${plain.join(', ')} FROM (SELECT * ${from}) ORDER BY ${select.order} ${parquet}`,
    params,
  )
  if (!bytes.subarray(0, 4).equals(magic) || !bytes.subarray(-4).equals(magic)) {
    throw new Error('ClickHouse ended in the middle of a Parquet file.')
  }
  return { bytes, rows, sha256: hash('sha256', bytes) }
}

export function readPart(source: Source, { kind, ...times }: Part): Promise<Content> {
  const { scope } = source
  const view = `${scope.database}.${kind}_flat`
  const params = paramsOf(scope, times)
  return readParquet(source, { view, rows: arrived(kind, scope), order, params })
}

/** A tombstone counts at its erasure. */
const deleted = (scope: ExportScope) =>
  `FROM ${scope.database}.deletions
   WHERE kind IN {kinds:Array(String)} AND deleted_at >= ${instant('from')} AND deleted_at < ${instant('until')} ${inScope(scope)}`

/** A dead letter counts when its record was stored. */
const corrected = (scope: ExportScope) =>
  `FROM intake.dead_letters_raw
   WHERE table IN {kinds:Array(String)} AND is_deleted = 1 AND ver < ${tombstoneVer} ${inScope(scope)}
     AND ver >= toUnixTimestamp64Milli(${instant('from')}) AND ver < toUnixTimestamp64Milli(${instant('until')})`

/** All times that a record can have. */
export const allTimes: Times = {
  from: new Date(limits.recordTimeMs.after).toISOString(),
  until: new Date(limits.recordTimeMs.before).toISOString(),
}
const inPart = `AND time >= ${instant('first')} AND time < ${instant('end')}`

/** Which changes are read: those of a time, some of them. */
interface Changes {
  times: Times
  part: ChangePart
}

const changesOf = ({ scope }: Source, { times, part }: Changes) => ({
  rows:
    part.corrects === undefined ? deleted(scope) : corrected({ ...scope, kinds: [part.corrects] }),
  params: {
    ...paramsOf(scope, { ...times, first: part.from, end: part.until }),
    ...(part.corrects && { kinds: [part.corrects] }),
  },
})

/** Divides changes as `divide` does records, by the time of their records: an erasure is one moment. */
export async function divideChanges(
  source: Source,
  changes: Changes,
  division: Division,
): Promise<ChangePart[]> {
  const { rows, params } = changesOf(source, changes)
  const units = await source.clickhouse.query<Unit>(
    `SELECT ${unitOf('time', division)}, count() AS rows ${rows} ${inPart} GROUP BY unit ORDER BY unit`,
    params,
  )
  return divideTimes(changes.part, units, division).map((times) => ({ ...changes.part, ...times }))
}

/** Divides changes that need too much memory. */
export async function divideLargeChanges(source: Source, changes: Changes): Promise<ChangePart[]> {
  const { rows, params } = changesOf(source, changes)
  const number = await countRows(source.clickhouse, `${rows} ${inPart}`, params)
  return divideChanges(source, changes, { rowsMax: Math.ceil(number / 8), unitMs: 1_000 })
}

/** @param arrivedBefore corrections are of earlier records: later ones are in their windows */
export function readChangePart(
  source: Source,
  changes: Changes,
  arrivedBefore: string,
): Promise<Content> {
  const { rows, params } = changesOf(source, changes)
  const { database } = source.scope
  const kind = changes.part.corrects
  if (kind === undefined) {
    return readParquet(source, {
      view: `${database}.deletions`,
      rows: `${rows} ${inPart}`,
      order: 'kind, bundle_identifier, time, id, device_uuid, deleted_at',
      params,
    })
  }
  const view = `${database}.${kind}_flat`
  const resolved = `SELECT bundle_identifier, time, id ${rows} ${inPart}`
  return readParquet(source, {
    view,
    rows: `FROM ${view}
       WHERE time IN (SELECT time FROM (${resolved})) AND (bundle_identifier, time, id) IN (${resolved})
         AND received_at < ${instant('before')}`,
    order,
    params: { ...params, before: sqlTime(new Date(arrivedBefore)) },
  })
}

/** Returns a number for the changes of a time, which is another one if a change is added. */
export async function fingerprintChanges(
  { clickhouse, scope }: Source,
  times: Times,
): Promise<string> {
  const [row] = await clickhouse.query<{ print: string }>(
    `SELECT concat(toString(count()), '-', hex(groupBitXor(cityHash64(change, toString(id), toString(time))))) AS print
     FROM (SELECT 'deletion' AS change, id, time ${deleted(scope)}
           UNION ALL SELECT 'correction' AS change, id, time ${corrected(scope)})`,
    paramsOf(scope, { ...times }),
  )
  return row?.print ?? ''
}

/**
 * A row of a run's report, with '' for all applications. `before` is empty for these, and in
 * reports of earlier versions: then it counts as the end of the month, or the day of the run.
 */
const droppedRow = 'Tuple(kind String, bundleIdentifier String, month String, before String)'
const droppedMonths = (kind: RecordKind) =>
  `arrayMap(month -> ('${kind}', '', month, ''), JSONExtract(report, '${kind}', 'Array(String)'))`

/** Reads up to when retention has dropped records, or a killed run has begun to drop them. */
export async function readDropped({ clickhouse, scope }: Source): Promise<Dropped[]> {
  const analysts = scope.database === 'intake' ? [] : await readAnalysts(clickhouse)
  const analyst = analysts.find((one) => databaseOf(one) === scope.database)
  const isVisible = `1 ${inScope(scope)} ${analyst ? `AND (${conditionOf(analyst)})` : ''}`
  const rows = await clickhouse.query<Dropped>(
    `SELECT row.1 AS kind, row.2 AS bundle_identifier,
       max(if(row.4 = '', least(addMonths(parseDateTimeBestEffort(concat(row.3, '01'), 'UTC'), 1), toStartOfDay(started_at)),
         parseDateTimeBestEffort(row.4, 'UTC'))) AS before
     FROM (SELECT report, started_at FROM intake.erasures WHERE kind = 'retention')
     ARRAY JOIN arrayConcat(JSONExtract(report, 'applications', 'Array(${droppedRow})'),
       ${kinds.map(droppedMonths).join(', ')}) AS row
     WHERE kind IN {kinds:Array(String)} AND (bundle_identifier = '' OR (${isVisible}))
     GROUP BY kind, bundle_identifier ORDER BY kind, bundle_identifier`,
    paramsOf(scope, {}),
  )
  return rows.map(({ before, ...of }) => ({ ...of, before: isoTime(`${before}.000`) }))
}
