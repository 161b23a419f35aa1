/**
 * What the users beside the owner may do. deploy/clickhouse/users.xml grants the same; a test compares
 * them.
 */

/**
 * Only inserts, and what `KILL QUERY` reads to find a query. It kills only queries of the same user, but
 * shows the text of all that run.
 */
export const workerGrants: readonly string[] = [
  'INSERT ON intake.logs_raw',
  'INSERT ON intake.feedback_raw',
  'INSERT ON intake.dead_letters_raw',
  'SELECT (query_id, user, query) ON system.processes',
]

/** Only views. The raw tables show deleted and duplicate rows. */
export const analystGrants: readonly string[] = [
  'SELECT ON intake.logs',
  'SELECT ON intake.feedback',
  'SELECT ON intake.dead_letters',
]
