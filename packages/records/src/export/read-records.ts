import { hash } from 'node:crypto'
import {
  isoTime,
  sqlTime,
  type ClickHouse,
  type QueryParams,
  type RecordTable,
} from '@intake/clickhouse'
import { tombstoneVer } from '@intake/schema'
import type { ExportScope, Times } from './manifest.ts'

/** Where records are read from, and which. */
export interface Source {
  clickhouse: Pick<ClickHouse, 'query' | 'bytes'>
  scope: ExportScope
}

/** The rows of a file. */
export interface Rows {
  view: string
  /** A SELECT of the view's rows, from its FROM on. */
  from: string
  order: string
  params: QueryParams
}

const parquet =
  "SETTINGS output_format_parquet_string_as_string = 1, output_format_parquet_compression_method = 'zstd' FORMAT Parquet"
const order = 'received_at, time, id, device_uuid, bundle_identifier'
const instant = (name: string): string => `{${name}:DateTime64(3, 'UTC')}`
const inTimes = (column: string): string =>
  `${column} >= ${instant('from')} AND ${column} < ${instant('until')}`

export const inScope = ({ bundles }: ExportScope): string =>
  bundles.length === 0 ? '' : 'AND bundle_identifier IN {bundles:Array(String)}'

export function paramsOf(scope: ExportScope, times: Record<string, string>): QueryParams {
  const printed = Object.entries(times).map(([name, time]) => [name, sqlTime(new Date(time))])
  return { bundles: scope.bundles, kinds: scope.kinds, ...Object.fromEntries(printed) }
}

/** All versions of records that arrived in a time. */
const arrived = (scope: ExportScope, kind: RecordTable) =>
  `FROM intake.${kind}_raw
   WHERE ${inTimes('received_at')} AND ver < ${tombstoneVer} ${inScope(scope)}`

/** The records of a kind that arrived in a time. */
export function arrivedRows({ scope }: Source, kind: RecordTable, { from, until }: Times): Rows {
  const view = `${scope.database}.${kind}_flat`
  // Spares ClickHouse the earlier months: imported events may be of any age.
  const first = `(SELECT minOrNull(time) ${arrived(scope, kind)})`
  return {
    view,
    from: `FROM ${view} WHERE ${inTimes('received_at')} AND time >= ${first} ${inScope(scope)}`,
    order,
    params: paramsOf(scope, { from, until }),
  }
}

/** Counts the versions of records that arrived in a time. `first` is when the first one did. */
export async function countArrived(
  { clickhouse, scope }: Source,
  { from, until }: Times,
): Promise<{ rows: number; first: string }> {
  const tables = scope.kinds.map((kind) => `SELECT received_at ${arrived(scope, kind)}`)
  const [row] = await clickhouse.query<{ rows: number; first: string }>(
    `SELECT count() AS rows, min(received_at) AS first FROM (${tables.join(' UNION ALL ')})`,
    paramsOf(scope, { from, until }),
  )
  return { rows: row?.rows ?? 0, first: isoTime(row?.first ?? '') }
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

/** A tombstone counts at its erasure. */
const deleted = (scope: ExportScope) =>
  `FROM ${scope.database}.deletions
   WHERE kind IN {kinds:Array(String)} AND ${inTimes('deleted_at')} ${inScope(scope)}`

/** A dead letter counts when its record was stored. */
const corrected = (scope: ExportScope) =>
  `FROM intake.dead_letters_raw
   WHERE table IN {kinds:Array(String)} AND is_deleted = 1 AND ver < ${tombstoneVer} ${inScope(scope)}
     AND ver >= toUnixTimestamp64Milli(${instant('from')}) AND ver < toUnixTimestamp64Milli(${instant('until')})`

/** The identities that were erased in a time. */
export function deletedRows({ scope }: Source, { from, until }: Times): Rows {
  return {
    view: `${scope.database}.deletions`,
    from: deleted(scope),
    order: 'kind, bundle_identifier, time, id, device_uuid, deleted_at',
    params: paramsOf(scope, { from, until }),
  }
}

/**
 * The records of a kind whose dead letters were replayed in a time.
 *
 * @param arrivedBefore later ones are in their windows
 */
export function correctedRows(
  { scope }: Source,
  kind: RecordTable,
  { times: { from, until }, arrivedBefore }: { times: Times; arrivedBefore: string },
): Rows {
  const view = `${scope.database}.${kind}_flat`
  const replayed = `SELECT bundle_identifier, time, id ${corrected(scope)}`
  return {
    view,
    from: `FROM ${view}
       WHERE time IN (SELECT time FROM (${replayed})) AND (bundle_identifier, time, id) IN (${replayed})
         AND received_at < ${instant('before')}`,
    order,
    params: {
      ...paramsOf({ ...scope, kinds: [kind] }, { from, until }),
      before: sqlTime(new Date(arrivedBefore)),
    },
  }
}

/**
 * Reads the clock of ClickHouse, the number of the changes of a time, and a print of them, which is
 * another one if a change is added.
 */
export async function readChanges(
  { clickhouse, scope }: Source,
  { from, until }: Times,
): Promise<{ now: string; rows: number; print: string }> {
  const [row] = await clickhouse.query<{ now: string; rows: number; print: string }>(
    `SELECT now64(3, 'UTC') AS now, count() AS rows,
       concat(toString(rows), '-', hex(groupBitXor(cityHash64(change, id, time)))) AS print
     FROM (SELECT 'deletion' AS change, id, time ${deleted(scope)}
           UNION ALL SELECT 'correction' AS change, id, time ${corrected(scope)})`,
    paramsOf(scope, { from, until }),
  )
  if (row === undefined) throw new Error('ClickHouse returned no row for an aggregate')
  return { ...row, now: isoTime(row.now) }
}

/** Reads rows as Parquet, with ids as text: Parquet readers differ in how they show UUIDs. */
export async function readRows({ clickhouse }: Source, rows: Rows) {
  const { view, from, order: by, params } = rows
  const columns = await clickhouse.query<{ name: string; type: string }>(`DESCRIBE TABLE ${view}`)
  const plain = columns.map(({ name, type }) =>
    type.includes('UUID') ? `toString(${name}) AS ${name}` : name,
  )
  const content = await clickhouse.bytes(
    `SELECT ${plain.join(', ')} FROM (SELECT * ${from}) ORDER BY ${by} ${parquet}`,
    params,
  )
  return { ...content, sha256: hash('sha256', content.bytes) }
}
