-- Rows that ClickHouse rejected, unchanged. Each is stored under the whole identity of its record,
-- because records of two devices may have the same id. An entry with a higher `ver` replaces an
-- older entry of the same row.
CREATE TABLE IF NOT EXISTS intake.dead_letters_raw (
  table LowCardinality(String),
  bundle_identifier String,
  time DateTime64(3, 'UTC'),
  id UUID,
  device_uuid UUID,
  failed_at DateTime64(3, 'UTC'),
  error_code Int32,
  error String,
  row String,
  ver UInt64,
  is_deleted UInt8 DEFAULT 0
)
ENGINE = ReplacingMergeTree(ver, is_deleted)
ORDER BY (table, bundle_identifier, time, id, device_uuid)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1;

CREATE VIEW IF NOT EXISTS intake.dead_letters DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT table, bundle_identifier, time, id, device_uuid, failed_at, error_code, error, row
FROM intake.dead_letters_raw FINAL;
