import type { Migration } from './migration.ts'

/** The 29 documented device fields; what is absent is NULL, an absent list is empty. */
const device = `Tuple(
  os LowCardinality(Nullable(String)),
  device_brand LowCardinality(Nullable(String)),
  device_model LowCardinality(Nullable(String)),
  android_version LowCardinality(Nullable(String)),
  battery_level Nullable(Float64),
  battery_state LowCardinality(Nullable(String)),
  build_board LowCardinality(Nullable(String)),
  build_bootloader LowCardinality(Nullable(String)),
  build_fingerprint LowCardinality(Nullable(String)),
  build_hardware LowCardinality(Nullable(String)),
  build_host LowCardinality(Nullable(String)),
  build_security_patch Nullable(Date32),
  build_tags LowCardinality(Nullable(String)),
  build_time Nullable(DateTime64(3, 'UTC')),
  build_type LowCardinality(Nullable(String)),
  build_user LowCardinality(Nullable(String)),
  build_version_codename LowCardinality(Nullable(String)),
  build_version_incremental LowCardinality(Nullable(String)),
  bundle_name LowCardinality(Nullable(String)),
  device LowCardinality(Nullable(String)),
  first_install_time Nullable(DateTime64(3, 'UTC')),
  is_emulator Nullable(Bool),
  last_update_time Nullable(DateTime64(3, 'UTC')),
  manufacturer LowCardinality(Nullable(String)),
  product LowCardinality(Nullable(String)),
  sdk_version Nullable(Int64),
  supported_abis Array(LowCardinality(String)),
  version_code Nullable(Int64),
  version_name LowCardinality(Nullable(String))
)`

const head = `
  id UUID,
  received_at DateTime64(3, 'UTC'),
  bundle_identifier LowCardinality(String),
  device_uuid UUID,
  unique_user_id String,
  api_key_id LowCardinality(String),
  device ${device},
  device_extra JSON(max_dynamic_paths = 0)`

/**
 * A row is identified by what never changes; the highest `ver` wins, a tombstone hides the row.
 * A row without identity is refused: all such rows would be one row.
 */
const table = `
  ver UInt8 DEFAULT 1,
  is_deleted UInt8 DEFAULT 0,
  CONSTRAINT has_identity CHECK id != toUUID('00000000-0000-0000-0000-000000000000')
    AND received_at > toDateTime64('2020-01-01 00:00:00', 3, 'UTC')
)
ENGINE = ReplacingMergeTree(ver, is_deleted)
PARTITION BY toYYYYMM(received_at)
PRIMARY KEY (bundle_identifier, received_at)
ORDER BY (bundle_identifier, received_at, id)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1,
  object_shared_data_serialization_version = 'map_with_buckets',
  object_shared_data_buckets_for_wide_part = 8`

export const logsAndFeedback: Migration = {
  name: '0001-logs-and-feedback',
  statements: [
    `CREATE TABLE IF NOT EXISTS intake.logs_raw (${head},
  event LowCardinality(String),
  params JSON(max_dynamic_paths = 16),${table}`,
    `CREATE TABLE IF NOT EXISTS intake.feedback_raw (${head},
  feedback_id Nullable(UUID),
  email Nullable(String),
  text String,
  attachments Array(Tuple(key String, content_type String, bytes UInt64, sha256 String)),${table}`,
    `CREATE VIEW IF NOT EXISTS intake.logs DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
  id, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id,
  device, device_extra, event, params
FROM intake.logs_raw FINAL`,
    `CREATE VIEW IF NOT EXISTS intake.feedback DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
  id, received_at, bundle_identifier, device_uuid, unique_user_id, api_key_id,
  device, device_extra, feedback_id, email, text, attachments
FROM intake.feedback_raw FINAL`,
  ],
}
