import { isoTime, type ClickHouse } from '@intake/clickhouse'

/** A row as ClickHouse prints it. */
interface FeedbackRow {
  id: string
  time: string
  received_at: string
  /** JSON text, because parsing it would round integers of 64 bits. */
  device: string
}

/**
 * Reads a feedback as the views show it now; undefined if it is not visible yet, or was erased.
 *
 * @param id the id of the record, a UUIDv7
 * @returns the body of a request about a new feedback; times of the record are ISO 8601 in UTC
 */
export async function readFeedback(
  reader: Pick<ClickHouse, 'query'>,
  id: string,
): Promise<string | undefined> {
  const [row] = await reader.query<FeedbackRow>(
    `SELECT id, time, received_at, bundle_identifier, device_uuid, unique_user_id, feedback_id, email, text,
       attachments, toJSONString(device) AS device
     FROM intake.feedback
     WHERE time = UUIDv7ToDateTime({id:UUID}, 'UTC') AND id = {id:UUID} LIMIT 1`,
    { id },
  )
  if (row === undefined) return undefined
  const { device, ...others } = row
  const time = isoTime(row.time)
  const data = JSON.stringify({ ...others, time, received_at: isoTime(row.received_at) })
  return `{"type":"feedback.created","timestamp":"${time}","data":${data.slice(0, -1)},"device":${device}}}`
}
