import { sqlTime, type ClickHouse } from '@intake/clickhouse'
import { identity } from '@intake/schema'
import type { Attachment, RecordHead } from '../page/records.ts'

type Reader = Pick<ClickHouse, 'query'>

/** A feedback with an attachment that has neither a thumbnail nor an error. */
export interface UnexaminedFeedback extends RecordHead {
  api_key_id: string
}

const isUnexamined =
  'attachment_count > 0 AND arrayExists(one -> one.thumbnail_key IS NULL AND one.error IS NULL, attachments)'
const querySettings =
  'SETTINGS max_threads = 1, max_execution_time = 10, max_memory_usage = 268435456'
/** The newest feedback, which a query sorts into turns. For more it would need too much memory. */
const inTurnsMax = 100_000

/** Selects feedback by its `time` and its arrival, in milliseconds since 1970. */
export interface Span {
  fromMs: number
  beforeMs: number
  arrivedFromMs: number
}

/**
 * Finds unexamined feedback, at most `rows`. API keys take turns, and so do the applications of one
 * key. The newest feedback of each application comes first. So a sender of many pictures delays
 * only its own pictures.
 */
export function findUnexamined(
  reader: Reader,
  { fromMs, beforeMs, arrivedFromMs }: Span,
  rows: number,
): Promise<UnexaminedFeedback[]> {
  const columns = `${identity}, api_key_id, received_at`
  const newest = 'received_at DESC, id DESC'
  // The feedback of a span fits into memory; the facts about all that may be as old may not.
  return reader.query<UnexaminedFeedback>(
    `SELECT ${identity}, api_key_id FROM (
       SELECT ${columns}, row_number() OVER (PARTITION BY api_key_id ORDER BY place, ${newest}) AS turn FROM (
         SELECT ${columns}, row_number() OVER (PARTITION BY api_key_id, bundle_identifier ORDER BY ${newest}) AS place FROM (
           SELECT ${columns} FROM intake.feedback
           WHERE time >= {from:DateTime64(3, 'UTC')} AND time < {before:DateTime64(3, 'UTC')}
             AND received_at >= {arrived:DateTime64(3, 'UTC')} AND ${isUnexamined}
           ORDER BY ${newest} LIMIT ${inTurnsMax})))
     ORDER BY turn, ${newest} LIMIT ${rows} ${querySettings}, query_plan_join_swap_table = 'true'`,
    {
      from: sqlTime(new Date(fromMs)),
      before: sqlTime(new Date(beforeMs)),
      arrived: sqlTime(new Date(arrivedFromMs)),
    },
  )
}

/** Resolves to undefined if it was erased, or if another console has examined it. */
export async function readUnexamined(
  reader: Reader,
  { bundle_identifier, time, id, device_uuid }: UnexaminedFeedback,
): Promise<Attachment[] | undefined> {
  const [row] = await reader.query<{ attachments: Attachment[] }>(
    `SELECT attachments FROM intake.feedback
     WHERE time = {time:DateTime64(3, 'UTC')} AND bundle_identifier = {bundle_identifier:String}
       AND device_uuid = {device_uuid:UUID} AND id = {id:UUID} AND ${isUnexamined} ${querySettings}`,
    { time, bundle_identifier, device_uuid, id },
  )
  return row?.attachments
}
