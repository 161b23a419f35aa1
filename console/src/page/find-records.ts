import { sqlTime } from '@intake/clickhouse'
import { limits, type RecordKind } from '@intake/contract'
import { parse } from 'lossless-json'
import { inWindow, windowParams } from './period.ts'
import { readInWindows } from './read-in-windows.ts'
import {
  querySettings,
  type Found,
  type FullRecord,
  type RecordHead,
  type RecordReader,
} from './records.ts'
import { timeOfId } from './search.ts'

/** No request has more records than this, because a batch has at most 500 entries. */
const otherIdRows = 500

/**
 * Finds the records with this id, at most ten. There may be several, from different devices or
 * applications.
 */
export async function findById(
  reader: RecordReader,
  kind: RecordKind,
  id: string,
): Promise<FullRecord[]> {
  const timeMs = timeOfId(id)
  if (timeMs === undefined) return []
  const lines = await reader.lines(
    `SELECT * FROM intake.${kind}
     WHERE time = {time:DateTime64(3, 'UTC')} AND id = {id:UUID}
     ORDER BY bundle_identifier, device_uuid LIMIT 10 ${querySettings}`,
    { time: sqlTime(new Date(timeMs)), id },
  )
  return lines.map((line) => ({ kind, columns: parseExact(line) as FullRecord['columns'] }))
}

/**
 * Parses a line of JSON. Integers beyond 2^53 become `bigint`s. `JSON.parse` is not used, because
 * it would round them, and mixes up names that contain an escape (nodejs/node#63785).
 */
export function parseExact(line: string): unknown {
  return parse(line, null, { parseNumber, onDuplicateKey: ({ newValue }) => newValue })
}

function parseNumber(text: string): number | bigint {
  const value = Number(text)
  return /^-?\d+$/.test(text) && !Number.isSafeInteger(value) ? BigInt(text) : value
}

/**
 * Finds the records with this request id, or with this `feedback.id` from a client, newest first.
 * Returns only their identities.
 */
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
    read: (window, rowsMax) =>
      reader.query<RecordHead>(
        `SELECT id, time, bundle_identifier, device_uuid FROM intake.${kind}
         WHERE ${inWindow('time')} AND ${condition}
         ORDER BY time DESC, id DESC LIMIT ${rowsMax} ${querySettings}`,
        { id, ...windowParams(window) },
      ),
  })
  return { rows, hasMore: false, ...(unread && { unread }) }
}
