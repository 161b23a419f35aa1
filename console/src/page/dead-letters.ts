import { readPage, type RecordHead, type RecordReader } from './records.ts'

export interface DeadLetterSummary extends RecordHead {
  table: string
  failed_at: string
  error_code: number
  /** The beginning of ClickHouse's error message. The message quotes the row. */
  error_start: string
  /** The beginning of the rejected row. The row is JSON with values from a client. */
  row_start: string
  row_bytes: number
}

const idCondition = `(id = {id:UUID} OR has(
  [JSONExtractString(row, 'request_id'), lower(JSONExtractString(row, 'feedback_id'))], {id:String}))`

/** @param id selects the dead letters with this record id, request id or `feedback.id` */
export const listDeadLetters = (reader: RecordReader, number: number, id?: string) =>
  readPage<DeadLetterSummary>(
    reader,
    number,
    `SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code,
       substringUTF8(error, 1, 600) AS error_start, substringUTF8(row, 1, 4000) AS row_start,
       length(row) AS row_bytes
     FROM intake.dead_letters WHERE ${id === undefined ? '1' : idCondition}
     ORDER BY failed_at DESC, id DESC, device_uuid DESC, bundle_identifier DESC, table DESC`,
    { id },
  )

export interface DeadLetterReason {
  bundle_identifier: string
  error_code: number
  letters: number
}

export const countDeadLetters = (reader: RecordReader): Promise<DeadLetterReason[]> =>
  reader.query<DeadLetterReason>(
    `SELECT bundle_identifier, error_code, count() AS letters FROM intake.dead_letters
     GROUP BY bundle_identifier, error_code ORDER BY letters DESC, error_code LIMIT 100`,
  )
