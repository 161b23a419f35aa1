import { sqlTime, type ClickHouse } from '@intake/clickhouse'

type Reader = Pick<ClickHouse, 'query'>

/** The properties of an attachment in the view `intake.feedback` that are used here. */
export interface Attachment {
  key: string
  content_type: string
  bytes: number
  sha256: string
  thumbnail_key: string | null
  error: string | null
}

/** A feedback with an attachment that has neither a thumbnail nor an error. */
export interface UnexaminedFeedback {
  bundle_identifier: string
  time: string
  id: string
  device_uuid: string
  received_at: string
  attachments: Attachment[]
}

const columns = 'bundle_identifier, time, id, device_uuid, received_at, attachments'
const isUnexamined =
  'arrayExists(one -> one.thumbnail_key IS NULL AND one.error IS NULL, attachments)'
const querySettings =
  'SETTINGS max_threads = 1, max_execution_time = 60, max_memory_usage = 268435456'
const pageRows = 100

/**
 * Yields unexamined feedback that arrived at or after `since`, the newest first. Reads a page at a
 * time. Yields each feedback once, even if it has been examined in the meantime.
 */
export async function* findUnexamined(
  reader: Reader,
  since: Date,
): AsyncGenerator<UnexaminedFeedback> {
  let last: { received_at: string; id: string } | undefined
  for (;;) {
    const page: UnexaminedFeedback[] = await reader.query<UnexaminedFeedback>(
      `SELECT ${columns} FROM intake.feedback
       WHERE received_at >= {since:DateTime64(3, 'UTC')}
         AND ${isUnexamined}
         ${last ? "AND (received_at, id) < ({before:DateTime64(3, 'UTC')}, {id:UUID})" : ''}
       ORDER BY received_at DESC, id DESC LIMIT ${pageRows} ${querySettings}`,
      { since: sqlTime(since), ...(last && { before: last.received_at, id: last.id }) },
    )
    yield* page
    if (page.length < pageRows) return
    last = page.at(-1)
  }
}

/**
 * Whether a feedback is visible as it was found and still unexamined. Resolves to false if it was
 * erased, or if another worker has examined it.
 */
export async function isStillUnexamined(
  reader: Reader,
  { bundle_identifier, time, id, device_uuid, attachments }: UnexaminedFeedback,
): Promise<boolean> {
  const rows = await reader.query<{ keys: string[] }>(
    `SELECT attachments.key AS keys FROM intake.feedback
     WHERE time = {time:DateTime64(3, 'UTC')} AND bundle_identifier = {bundle_identifier:String}
       AND device_uuid = {device_uuid:UUID} AND id = {id:UUID} AND ${isUnexamined} ${querySettings}`,
    { time, bundle_identifier, device_uuid, id },
  )
  const keys = attachments.map(({ key }) => key)
  return rows.some((row) => JSON.stringify(row.keys) === JSON.stringify(keys))
}
