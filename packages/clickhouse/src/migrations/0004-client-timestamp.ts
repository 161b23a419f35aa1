import type { Migration } from './migration.ts'

/** When an event happened, by the clock of the device; a phone sends its events late. */
export const clientTimestamp: Migration = {
  name: '0004-client-timestamp',
  statements: [
    `ALTER TABLE intake.logs_raw
ADD COLUMN IF NOT EXISTS client_timestamp Nullable(DateTime64(3, 'UTC')) AFTER params`,
    `CREATE OR REPLACE VIEW intake.logs DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
  id, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id,
  device, device_extra, event, params, client_timestamp
FROM intake.logs_raw FINAL`,
  ],
}
