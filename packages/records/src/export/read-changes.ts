import { isoTime, sqlTime, type RecordTable } from '@intake/clickhouse'
import { tombstoneVer } from '@intake/schema'
import type { ExportScope, Times } from './manifest.ts'
import {
  inScope,
  instant,
  inTimes,
  order,
  paramsOf,
  type Rows,
  type Source,
} from './read-records.ts'

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
