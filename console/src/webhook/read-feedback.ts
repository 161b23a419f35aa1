import { isoTime, type ClickHouse } from '@intake/clickhouse'

export interface StoredFeedback {
  id: string
  /** ISO 8601 in UTC, like all times of a feedback. */
  time: string
  received_at: string
  bundle_identifier: string
  device_uuid: string
  unique_user_id: string
  feedback_id: string | null
  email: string | null
  text: string
  attachments: { key: string; content_type: string; bytes: number; sha256: string }[]
  /** The device as JSON text, because parsing it would round integers of 64 bits. */
  device: string
}

/**
 * Reads a feedback as the views show it now; undefined if it is not visible yet, or was erased.
 *
 * @param id the id of the record, a UUIDv7
 */
export async function readFeedback(
  reader: Pick<ClickHouse, 'query'>,
  id: string,
): Promise<StoredFeedback | undefined> {
  const [row] = await reader.query<StoredFeedback>(
    `SELECT id, time, received_at, bundle_identifier, device_uuid, unique_user_id, feedback_id, email, text,
       CAST(arrayZip(attachments.key, attachments.content_type, attachments.bytes, attachments.sha256),
         'Array(Tuple(key String, content_type String, bytes UInt64, sha256 String))') AS attachments,
       toJSONString(device) AS device
     FROM intake.feedback
     WHERE time = UUIDv7ToDateTime({id:UUID}, 'UTC') AND id = {id:UUID} LIMIT 1`,
    { id },
  )
  if (row === undefined) return undefined
  return { ...row, time: isoTime(row.time), received_at: isoTime(row.received_at) }
}
