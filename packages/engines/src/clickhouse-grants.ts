/**
 * What the users beside the owner may do. deploy/clickhouse/users.xml grants the same; a test compares
 * them.
 */

/**
 * Only inserts, the mark of the installation, and what `KILL QUERY` reads to find a query. It kills only queries of the
 * same user, but shows the text of all that run.
 */
export const workerGrants: readonly string[] = [
  'INSERT ON intake.logs_raw',
  'INSERT ON intake.feedback_raw',
  'INSERT ON intake.dead_letters_raw',
  'INSERT ON intake.outcomes_raw',
  'INSERT ON intake.watermark_raw',
  'SELECT (id, created_at) ON intake.installation',
  'SELECT (query_id, user, query) ON system.processes',
]

/** What workers show and send: the page, the webhook and their metrics. */
export const readerGrants: readonly string[] = [
  'SELECT ON intake.logs',
  'SELECT ON intake.feedback',
  'SELECT ON intake.dead_letters',
  'SELECT ON intake.outcomes',
  'SELECT ON intake.watermark',
]

/**
 * Only views: the raw tables show deleted and duplicate rows. The lists in information_schema, which some
 * tools read under one name or the other, show each user only what that user may read; so does system.parts.
 */
export const analystGrants: readonly string[] = [
  'SELECT ON intake.logs',
  'SELECT ON intake.feedback',
  'SELECT ON intake.logs_flat',
  'SELECT ON intake.feedback_flat',
  'SELECT ON intake.devices',
  'SELECT ON intake.sessions',
  'SELECT ON intake.dead_letters',
  'SELECT ON intake.outcomes',
  'SELECT ON intake.watermark',
  'SELECT ON information_schema.*',
  'SELECT ON INFORMATION_SCHEMA.*',
  'SELECT ON system.parts',
]
