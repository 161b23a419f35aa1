/**
 * Statements after which ClickHouse removes replaced parts within seconds instead of eight minutes.
 * A table plans its next clean-up up to 30 seconds ahead. So the statements also detach and attach
 * each table, after which the table plans its clean-up anew.
 */
export const cleanUpPartsSoon = [
  'logs_raw',
  'feedback_raw',
  'dead_letters_raw',
  'attachments_raw',
  'hours_raw',
  'days_raw',
  'alerts_raw',
].flatMap((table) => [
  `ALTER TABLE intake.${table} MODIFY SETTING old_parts_lifetime = 1, cleanup_delay_period = 1,
   cleanup_delay_period_random_add = 0, max_cleanup_delay_period = 1`,
  `DETACH TABLE intake.${table}`,
  `ATTACH TABLE intake.${table}`,
])
