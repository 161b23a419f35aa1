import { sqlTime } from '@intake/clickhouse'
import { limits } from '@intake/contract'
import { parseTime } from '@intake/runtime'
import { querySettings, type Found, type RecordHead, type RecordReader } from './records.ts'
import { PageError } from './page-error.ts'
import { readText, requireUuid } from './search.ts'

export interface DeadLetterSummary extends RecordHead {
  table: string
  failed_at: string
  error_code: number
  /** The beginning of ClickHouse's error message. The message quotes the row. */
  error_start: string
  /** The beginning of the rejected row. The row is JSON with values from a client. */
  row_start: string
  /** Size of the row in bytes. */
  row_bytes: number
}

/** The last dead letter on a page. The next page begins with the dead letter that follows it. */
export interface DeadLetterCursor {
  /** UTC, `YYYY-MM-DD hh:mm:ss.mmm`. */
  failedAt: string
  id: string
  device: string
}

const pageLetters = 50
const afterCondition =
  "(failed_at, id, device_uuid) < ({after_failed_at:DateTime64(3, 'UTC')}, {after_id:UUID}, {after_device:UUID})"
const idCondition = `(id = {id:UUID} OR has(
  [JSONExtractString(row, 'request_id'), JSONExtractString(row, 'feedback_id')], {id:String}))`

/**
 * Lists dead letters, newest first. Returns at most one page of them.
 *
 * @param search.after the last dead letter of the previous page
 * @param search.id selects the dead letters with this record id, request id or `feedback.id`
 */
export async function listDeadLetters(
  reader: RecordReader,
  search: { after?: DeadLetterCursor | undefined; id?: string },
): Promise<Found<DeadLetterSummary>> {
  const { after, id } = search
  const conditions = [
    ...(after === undefined ? [] : [afterCondition]),
    ...(id === undefined ? [] : [idCondition]),
  ]
  const rows = await reader.query<DeadLetterSummary>(
    `SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code,
       substringUTF8(error, 1, 600) AS error_start, substringUTF8(row, 1, 4000) AS row_start,
       length(row) AS row_bytes
     FROM intake.dead_letters
     ${conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : ''}
     ORDER BY failed_at DESC, id DESC, device_uuid DESC, bundle_identifier DESC, table DESC
     LIMIT ${pageLetters + 1} ${querySettings}`,
    {
      ...(after && {
        after_failed_at: after.failedAt,
        after_id: after.id,
        after_device: after.device,
      }),
      ...(id !== undefined && { id }),
    },
  )
  return { rows: rows.slice(0, pageLetters), hasMore: rows.length > pageLetters }
}

/** Returns the query string of the next page. `readDeadLetterCursor` reads it. */
export function printDeadLetterCursor(last: DeadLetterSummary): string {
  return new URLSearchParams({
    after: [last.failed_at.replace(' ', 'T'), last.id, last.device_uuid].join(','),
  }).toString()
}

/**
 * Reads the cursor in a query string; undefined if there is none.
 *
 * @throws {PageError} 400
 */
export function readDeadLetterCursor(query: URLSearchParams): DeadLetterCursor | undefined {
  const text = readText(query, 'after')
  if (text === undefined) return undefined
  const [failedAt = '', id = '', device = ''] = text.split(',')
  const failedAtMs = parseTime(failedAt)?.getTime() ?? 0
  const { after, before } = limits.recordTimeMs
  if (failedAtMs <= after || failedAtMs >= before)
    throw new PageError(400, 'after must be the place where a page ended.')
  return {
    failedAt: sqlTime(new Date(failedAtMs)),
    id: requireUuid(id, 'after'),
    device: requireUuid(device, 'after'),
  }
}

export interface DeadLetterReason {
  bundle_identifier: string
  error_code: number
  letters: number
}

export const countDeadLetters = (reader: RecordReader): Promise<DeadLetterReason[]> =>
  reader.query<DeadLetterReason>(
    `SELECT bundle_identifier, error_code, count() AS letters FROM intake.dead_letters
     GROUP BY bundle_identifier, error_code ORDER BY letters DESC, error_code LIMIT 100 ${querySettings}`,
  )
