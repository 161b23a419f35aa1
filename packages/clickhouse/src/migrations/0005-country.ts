import type { Migration } from './migration.ts'

/** Two capital letters; NULL if the gateway did not get the country. */
export const country: Migration = {
  name: '0005-country',
  statements: ['logs_raw', 'feedback_raw'].map(
    (table) => `ALTER TABLE intake.${table}
ADD COLUMN IF NOT EXISTS country LowCardinality(Nullable(String)) AFTER request_id`,
  ),
}
