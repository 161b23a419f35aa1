/**
 * The rights of the users other than the owner. deploy/clickhouse/users.xml grants the same rights;
 * a test compares both.
 */

/**
 * The rights of the user `worker`. It may insert, read the mark of the installation, and read what
 * `KILL QUERY` needs to find a query. It can kill only its own queries. In `system.processes`, it
 * can read the text of every running query.
 */
export const workerGrants: readonly string[] = [
  'INSERT ON intake.logs_raw',
  'INSERT ON intake.feedback_raw',
  'INSERT ON intake.dead_letters_raw',
  'INSERT ON intake.outcomes_raw',
  'INSERT ON intake.watermark_raw',
  'INSERT ON intake.hours_raw',
  'INSERT ON intake.days_raw',
  'INSERT ON intake.counted_raw',
  'INSERT ON intake.attachments_raw',
  'SELECT (id, created_at) ON intake.installation',
  'SELECT (query_id, user, query) ON system.processes',
]

/**
 * The rights of the user `reader`. As this user, workers read for the page, for the webhook and for
 * their metrics.
 */
export const readerGrants: readonly string[] = [
  'SELECT ON intake.logs',
  'SELECT ON intake.feedback',
  'SELECT ON intake.dead_letters',
  'SELECT ON intake.outcomes',
  'SELECT ON intake.watermark',
  'SELECT ON intake.hours',
  'SELECT ON intake.device_hours',
  'SELECT ON intake.catalogue',
  'SELECT ON intake.drift',
  'SELECT ON intake.warnings',
  'SELECT ON intake.counted',
  'SELECT ON intake.recounts',
]

/**
 * The rights of the user `analyst`. It may read only views, because the raw tables contain deleted
 * and duplicate rows. It may also read information_schema and system.parts, whose lists show each
 * user only what that user may read. Some tools read the same lists in INFORMATION_SCHEMA.
 */
export const analystGrants: readonly string[] = [
  'SELECT ON intake.logs',
  'SELECT ON intake.feedback',
  'SELECT ON intake.logs_flat',
  'SELECT ON intake.feedback_flat',
  'SELECT ON intake.devices',
  'SELECT ON intake.sessions',
  'SELECT ON intake.gaps',
  'SELECT ON intake.dead_letters',
  'SELECT ON intake.outcomes',
  'SELECT ON intake.watermark',
  'SELECT ON intake.hours',
  'SELECT ON intake.device_hours',
  'SELECT ON intake.catalogue',
  'SELECT ON intake.drift',
  'SELECT ON intake.warnings',
  'SELECT ON intake.counted',
  'SELECT ON information_schema.*',
  'SELECT ON INFORMATION_SCHEMA.*',
  'SELECT ON system.parts',
]
