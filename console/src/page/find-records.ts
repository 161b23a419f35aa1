import { sqlTime } from '@intake/clickhouse'
import { limits, type RecordKind } from '@intake/contract'
import { parseLossless } from '@intake/json'
import { inWindow, windowParams } from './period.ts'
import { readInWindows } from './read-in-windows.ts'
import {
  ofApplication,
  type Found,
  type FullRecord,
  type RecordHead,
  type RecordReader,
} from './records.ts'
import { timeOfId, type Cursor, type ListSearch } from './search.ts'

/** No request has more records than this, because a batch has at most 500 entries. */
const otherIdRows = 500

/** At most ten: devices or applications may have sent the same id. With a whole identity, one. */
export async function findById(
  reader: RecordReader,
  kind: RecordKind,
  { id, device, application }: Pick<Cursor, 'id'> & ListSearch,
): Promise<FullRecord[]> {
  const timeMs = timeOfId(id)
  if (timeMs === undefined) return []
  const ofDevice = device === undefined ? '1' : 'toString(device_uuid) = {device:String}'
  // Before the limit: others may have sent the id more often.
  const lines = await reader.lines(
    `SELECT * FROM intake.${kind}
     WHERE time = {time:DateTime64(3, 'UTC')} AND id = {id:UUID} AND ${ofDevice} AND ${ofApplication(application)}
     ORDER BY bundle_identifier, device_uuid LIMIT 10`,
    { time: sqlTime(new Date(timeMs)), id, device: device?.toLowerCase(), application },
  )
  return lines.map((line) => ({ kind, columns: parseLossless(line) as FullRecord['columns'] }))
}

/** Finds records by their request id or by the `feedback.id` of a client, newest first. */
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
         ORDER BY time DESC, id DESC LIMIT ${rowsMax}`,
        { id, ...windowParams(window) },
      ),
  })
  return { rows, hasMore: false, ...(unread && { unread }) }
}
