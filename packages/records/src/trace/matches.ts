import type { RecordSearch } from '../find-records.ts'

/** The columns of a row in a frame that are needed to match it and to report it. */
export interface QueuedRow {
  id: string
  time: string
  received_at: string
  bundle_identifier: string
  device_uuid: string
  request_id: string
  feedback_id?: string | null
}

/** Tests a row as `findRecords` does in the tables, without the times of `tails`. */
export function matches(search: RecordSearch): (row: string) => boolean {
  const isWanted = condition(search)
  const needle = 'id' in search ? search.id : search.deviceUuid
  // Searches the text first, because most rows then need not be parsed.
  return (row) => row.toLowerCase().includes(needle) && isWanted(JSON.parse(row) as QueuedRow)
}

function condition(search: RecordSearch): (row: QueuedRow) => boolean {
  if ('id' in search) {
    return ({ id, request_id, feedback_id }) =>
      [id, request_id, feedback_id?.toLowerCase()].includes(search.id)
  }
  const { bundleIdentifier, deviceUuid, ids, tails } = search
  const tailsOf = new Set(tails?.of)
  return ({ id, bundle_identifier, device_uuid }) =>
    bundle_identifier === bundleIdentifier &&
    device_uuid.toLowerCase() === deviceUuid &&
    (ids.includes(id) || tailsOf.has(id.slice(14)))
}
