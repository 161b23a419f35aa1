export type RecordSearch =
  /** The id of a record, its request or a feedback: a UUID in lower case. */
  | { id: string }
  /** Records of one device of an application. */
  | {
      bundleIdentifier: string
      deviceUuid: string
      ids: readonly string[]
      /** Selects ids by their last 22 characters (`of`), and by the period of their times. */
      tails?: { of: readonly string[]; from: Date; to: Date } | undefined
    }

/** The columns of a record by which it is found and reported, in a frame or in the tables. */
export interface RecordRow {
  id: string
  time: string
  received_at: string
  bundle_identifier: string
  device_uuid: string
  request_id: string
}

/** Tests a row of a frame as `findInTables` does in the tables, without the times of `tails`. */
export function matches(search: RecordSearch): (row: string) => boolean {
  const isWanted = condition(search)
  const needle = 'id' in search ? search.id : search.deviceUuid
  // Searches the text first, because most rows then need not be parsed.
  return (row) => row.toLowerCase().includes(needle) && isWanted(JSON.parse(row) as RecordRow)
}

function condition(search: RecordSearch): (row: RecordRow & { feedback_id?: string }) => boolean {
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
