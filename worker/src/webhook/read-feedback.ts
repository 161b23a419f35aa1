import { isoTime, type ClickHouse } from '@intake/clickhouse'

/** The body of a request about a new feedback. Times are ISO 8601 in UTC. */
export interface FeedbackNotice {
  type: 'feedback.created'
  timestamp: string
  data: Record<string, unknown>
}

/**
 * Reads a feedback as the views show it now; undefined: it is not visible, or no longer.
 *
 * @param id the record's, a UUIDv7
 */
export async function readFeedback(
  reader: Pick<ClickHouse, 'query'>,
  id: string,
): Promise<FeedbackNotice | undefined> {
  const [row] = await reader.query<{ time: string; received_at: string }>(
    `SELECT id, time, received_at, bundle_identifier, device_uuid, unique_user_id, feedback_id, email, text,
       device, attachments
     FROM intake.feedback
     WHERE time = UUIDv7ToDateTime({id:UUID}, 'UTC') AND id = {id:UUID} LIMIT 1`,
    { id },
  )
  if (row === undefined) return undefined
  const time = isoTime(row.time)
  const data = { ...row, time, received_at: isoTime(row.received_at) }
  return { type: 'feedback.created', timestamp: time, data }
}
