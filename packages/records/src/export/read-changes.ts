import { sqlTime } from '@intake/clickhouse'
import { limits } from '@intake/contract'
import { tombstoneVer } from '@intake/schema'
import type { ChangePart, ExportScope, Times } from './manifest.ts'
import { inScope, instant, order, paramsOf, type Rows, type Source } from './read-records.ts'

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

/**
 * The changes of a time whose records have a `time` in that of `part`: an erasure is one moment.
 *
 * @param changes.arrivedBefore corrections are of earlier records: later ones are in their windows
 */
export function changedRows(
  { scope }: Source,
  changes: { times: Times; part: ChangePart; arrivedBefore: string },
): Rows {
  const { times, part, arrivedBefore } = changes
  const params = {
    ...paramsOf(scope, { ...times, first: part.from, end: part.until }),
    before: sqlTime(new Date(arrivedBefore)),
  }
  const inPart = `AND time >= ${instant('first')} AND time < ${instant('end')}`
  // Records may be of many years, and the file of an hour may have to be divided again.
  const unitMs = { first: 3_600_000, ifTooLarge: 1_000 }
  const kind = part.corrects
  if (kind === undefined) {
    return {
      view: `${scope.database}.deletions`,
      from: `${deleted(scope)} ${inPart}`,
      order: 'kind, bundle_identifier, time, id, device_uuid, deleted_at',
      params,
      time: 'time',
      unitMs,
    }
  }
  const view = `${scope.database}.${kind}_flat`
  const counted = `${corrected(scope)} ${inPart}`
  const resolved = `SELECT bundle_identifier, time, id ${counted}`
  return {
    view,
    from: `FROM ${view}
       WHERE time IN (SELECT time FROM (${resolved})) AND (bundle_identifier, time, id) IN (${resolved})
         AND received_at < ${instant('before')}`,
    order,
    params: { ...params, kinds: [kind] },
    counted,
    time: 'time',
    unitMs,
  }
}

/** Returns a number for the changes of a time, which is another one if a change is added. */
export async function fingerprintChanges(
  { clickhouse, scope }: Source,
  times: Times,
): Promise<string> {
  const [row] = await clickhouse.query<{ print: string }>(
    `SELECT concat(toString(count()), '-', hex(groupBitXor(cityHash64(change, id, time)))) AS print
     FROM (SELECT 'deletion' AS change, id, time ${deleted(scope)}
           UNION ALL SELECT 'correction' AS change, id, time ${corrected(scope)})`,
    paramsOf(scope, { ...times }),
  )
  return row?.print ?? ''
}
