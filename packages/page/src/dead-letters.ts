import {
  printTime,
  querySettings,
  type Found,
  type RecordHead,
  type RecordReader,
} from './records.ts'

export interface DeadLetterSummary extends RecordHead {
  table: string
  failed_at: string
  error_code: number
  /** ClickHouse's message, its beginning; it quotes the row. */
  error_start: string
  /** The beginning of the rejected row, JSON from a client. */
  row_start: string
  /** In bytes. */
  row_bytes: number
}

const pageLetters = 50

/**
 * The latest dead letters.
 *
 * @param search.before milliseconds since 1970: only those that failed earlier
 * @param search.id only those of this record
 */
export async function listDeadLetters(
  reader: RecordReader,
  search: { before?: number | undefined; id?: string },
): Promise<Found<DeadLetterSummary>> {
  const { before, id } = search
  const conditions = [
    ...(before === undefined ? [] : ["failed_at < {before:DateTime64(3, 'UTC')}"]),
    ...(id === undefined ? [] : ['id = {id:UUID}']),
  ]
  const rows = await reader.query<DeadLetterSummary>(
    `SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code,
       substringUTF8(error, 1, 600) AS error_start, substringUTF8(row, 1, 4000) AS row_start,
       length(row) AS row_bytes
     FROM intake.dead_letters
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY failed_at DESC, id DESC LIMIT ${pageLetters + 1} ${querySettings}`,
    { ...(before !== undefined && { before: printTime(before) }), ...(id !== undefined && { id }) },
  )
  return { rows: rows.slice(0, pageLetters), hasMore: rows.length > pageLetters }
}
