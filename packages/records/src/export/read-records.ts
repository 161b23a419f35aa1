import { hash } from 'node:crypto'
import { isoTime, type ClickHouse, type QueryParams, type RecordTable } from '@intake/clickhouse'
import { tombstoneVer } from '../erasure/tombstones.ts'
import { ageDays } from '../follow-records.ts'
import type { ChangesRead, ExportFile, ExportScope, Part } from './manifest.ts'

type Reader = Pick<ClickHouse, 'query' | 'bytes'>

/** A file that ends without this was cut off: ClickHouse failed after it had begun to respond. */
const magic = Buffer.from('PAR1')
const parquet =
  "SETTINGS output_format_parquet_string_as_string = 1, output_format_parquet_compression_method = 'zstd' FORMAT Parquet"
const order = 'received_at, time, id, device_uuid, bundle_identifier'
const instant = (name: string) => `{${name}:DateTime64(3, 'UTC')}`

/** The parameters of a statement about a scope, with times as ClickHouse reads them. */
const paramsOf = ({ bundles, kinds }: ExportScope, times: Record<string, string>): QueryParams => ({
  bundles,
  kinds,
  ...Object.fromEntries(
    Object.entries(times).map(([name, time]) => [name, time.replace('T', ' ').replace('Z', '')]),
  ),
})

const inScope = ({ bundles }: ExportScope) =>
  bundles.length === 0 ? '' : 'AND bundle_identifier IN {bundles:Array(String)}'

/** The records of a kind that arrived from `from` and before `until`. */
const arrived = (kind: RecordTable, scope: ExportScope) =>
  `FROM ${scope.database}.${kind}_flat
   WHERE received_at >= ${instant('from')} AND received_at < ${instant('until')}
     AND time >= ${instant('from')} - toIntervalDay(${ageDays(kind)}) ${inScope(scope)}`

/** Up to when everything that was accepted is visible, for all kinds; undefined: nothing is yet. */
export async function readVisibleUntil(
  clickhouse: Reader,
  { kinds }: ExportScope,
): Promise<string | undefined> {
  const rows = await clickhouse.query<{ until: string }>(
    'SELECT visible_until AS until FROM intake.watermark WHERE kind IN {kinds:Array(String)}',
    { kinds },
  )
  const [first] = rows.map(({ until }) => until).toSorted()
  return first === undefined || rows.length < kinds.length ? undefined : isoTime(first)
}

/** When the first record arrived from `from` on; undefined if none has. */
export async function readFirstArrival(
  clickhouse: Reader,
  scope: ExportScope,
  from: string,
): Promise<string | undefined> {
  const found = await Promise.all(
    scope.kinds.map((kind) =>
      clickhouse.query<{ first: string | null }>(
        `SELECT minOrNull(received_at) AS first FROM intake.${kind}_raw
         WHERE received_at >= ${instant('from')} AND ver < ${tombstoneVer}`,
        paramsOf(scope, { from }),
      ),
    ),
  )
  const [first] = found.flatMap(([row]) => row?.first ?? []).toSorted()
  return first === undefined ? undefined : isoTime(first)
}

/** Divides a window into parts of about `rowsMax` records, but never within a unit of time. */
export async function divideWindow(
  clickhouse: Reader,
  kind: RecordTable,
  scope: ExportScope,
  options: { window: { from: string; until: string }; rowsMax: number; unitMs?: number },
): Promise<{ from: string; until: string }[]> {
  const { window, rowsMax, unitMs = 1_000 } = options
  const units = await clickhouse.query<{ unit: number; rows: number }>(
    `SELECT intDiv(toUnixTimestamp64Milli(received_at), ${unitMs}) AS unit, count() AS rows
     ${arrived(kind, scope)} GROUP BY unit ORDER BY unit`,
    paramsOf(scope, { ...window }),
  )
  const cuts: string[] = []
  let rows = 0
  for (const one of units) {
    if (rows > 0 && rows + one.rows > rowsMax) {
      cuts.push(new Date(one.unit * unitMs).toISOString())
      rows = 0
    }
    rows += one.rows
  }
  if (units.length === 0) return []
  const bounds = [window.from, ...cuts, window.until]
  return bounds.slice(1).map((until, place) => ({ from: bounds[place] ?? until, until }))
}

/**
 * Divides a part whose records need too much memory. Returns one part if all arrived in one
 * millisecond.
 */
export async function dividePart(
  clickhouse: Reader,
  scope: ExportScope,
  part: Part,
): Promise<Part[]> {
  const { kind, from, until } = part
  const rows = await countArrived(clickhouse, kind, scope, part)
  const divided = await divideWindow(clickhouse, kind, scope, {
    window: { from, until },
    rowsMax: Math.ceil(rows / 8),
    unitMs: 1,
  })
  return divided.map((one) => ({ kind, ...one }))
}

export async function readPart(
  clickhouse: Reader,
  scope: ExportScope,
  part: Part,
): Promise<Content> {
  const columns = await plainColumns(clickhouse, `${scope.database}.${part.kind}_flat`)
  return readParquet(
    clickhouse,
    `SELECT ${columns} FROM (SELECT * ${arrived(part.kind, scope)}) ORDER BY ${order}`,
    paramsOf(scope, { from: part.from, until: part.until }),
  )
}

export async function countArrived(
  clickhouse: Reader,
  kind: RecordTable,
  scope: ExportScope,
  window: { from: string; until: string },
): Promise<number> {
  const [row] = await clickhouse.query<{ rows: number }>(
    `SELECT count() AS rows ${arrived(kind, scope)}`,
    paramsOf(scope, { ...window }),
  )
  return row?.rows ?? 0
}

export interface Content extends Omit<ExportFile, 'path'> {
  bytes: Buffer
}

async function readParquet(
  clickhouse: Reader,
  select: string,
  params: QueryParams,
): Promise<Content> {
  const { bytes, rows } = await clickhouse.bytes(`${select} ${parquet}`, params)
  if (!bytes.subarray(0, 4).equals(magic) || !bytes.subarray(-4).equals(magic)) {
    throw new Error('ClickHouse ended in the middle of a Parquet file.')
  }
  return { bytes, rows, sha256: hash('sha256', bytes) }
}

/** The columns of a view, with ids as text: Parquet readers differ in how they show UUIDs. */
async function plainColumns(clickhouse: Reader, view: string): Promise<string> {
  const columns = await clickhouse.query<{ name: string; type: string }>(`DESCRIBE TABLE ${view}`)
  return columns
    .map(({ name, type }) => (type.includes('UUID') ? `toString(${name}) AS ${name}` : name))
    .join(', ')
}

const changeKinds = ['deletions', 'corrections'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** Tombstones count at their erasure, dead letters when their records were stored. */
const changed: Record<ChangeKind, (scope: ExportScope) => string> = {
  deletions: (scope) =>
    `FROM ${scope.database}.deletions
     WHERE kind IN {kinds:Array(String)} AND deleted_at >= ${instant('from')} AND deleted_at < ${instant('until')} ${inScope(scope)}`,
  corrections: (scope) =>
    `FROM intake.dead_letters_raw
     WHERE table IN {kinds:Array(String)} AND is_deleted = 1 AND ver < ${tombstoneVer} ${inScope(scope)}
       AND ver >= toUnixTimestamp64Milli(${instant('from')}) AND ver < toUnixTimestamp64Milli(${instant('until')})`,
}

export async function readDeletions(
  clickhouse: Reader,
  scope: ExportScope,
  times: { from: string; until: string },
): Promise<Content> {
  const columns = await plainColumns(clickhouse, `${scope.database}.deletions`)
  return readParquet(
    clickhouse,
    `SELECT ${columns} FROM (SELECT * ${changed.deletions(scope)}) ORDER BY kind, bundle_identifier, time, id`,
    paramsOf(scope, times),
  )
}

/** Records that arrived earlier and were dead letters. Later ones are in their windows. */
export async function readCorrections(
  clickhouse: Reader,
  scope: ExportScope,
  options: { kind: RecordTable; from: string; until: string; arrivedBefore: string },
): Promise<Content> {
  const { kind, from, until, arrivedBefore } = options
  const columns = await plainColumns(clickhouse, `${scope.database}.${kind}_flat`)
  const resolved = `SELECT bundle_identifier, time, id ${changed.corrections(scope)}`
  return readParquet(
    clickhouse,
    `SELECT ${columns} FROM (
       SELECT * FROM ${scope.database}.${kind}_flat
       WHERE time IN (SELECT time FROM (${resolved})) AND (bundle_identifier, time, id) IN (${resolved})
         AND received_at < ${instant('before')})
     ORDER BY ${order}`,
    paramsOf({ ...scope, kinds: [kind] }, { from, until, before: arrivedBefore }),
  )
}

/** Returns a number for the changes of a time, which is another one if a change is added. */
export async function fingerprintChanges(
  clickhouse: Reader,
  scope: ExportScope,
  times: { from: string; until: string },
): Promise<ChangesRead['overlap']> {
  const prints = await Promise.all(
    changeKinds.map(async (kind) => {
      const [row] = await clickhouse.query<{ print: string }>(
        `SELECT concat(toString(count()), '-', hex(groupBitXor(cityHash64(toString(id), toString(time))))) AS print ${changed[kind](scope)}`,
        paramsOf(scope, times),
      )
      return [kind, row?.print ?? ''] as const
    }),
  )
  return Object.fromEntries(prints) as ChangesRead['overlap']
}

export async function readNow(clickhouse: Reader): Promise<string> {
  const [row] = await clickhouse.query<{ now: string }>("SELECT now64(3, 'UTC') AS now")
  return isoTime(row?.now ?? '')
}

/** The beginning of the first month that is stored; null if there is none. */
export async function readFirstMonth(
  clickhouse: Reader,
  kind: RecordTable,
): Promise<string | null> {
  const [row] = await clickhouse.query<{ first: string | null }>(
    `SELECT minOrNull(toStartOfMonth(time)) AS first FROM intake.${kind}_raw`,
  )
  return row?.first == null ? null : `${row.first}T00:00:00.000Z`
}
