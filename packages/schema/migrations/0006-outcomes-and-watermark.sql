-- Counts of accepted and refused records. Each row is the count of one gateway process; a later
-- report of the same count is higher and replaces it, so a redelivered or reordered report changes
-- nothing.
CREATE TABLE IF NOT EXISTS intake.outcomes_raw (
  minute DateTime('UTC'),
  api_key_id LowCardinality(String),
  kind LowCardinality(String),
  code LowCardinality(String),
  run UUID,
  records UInt64
)
ENGINE = ReplacingMergeTree(records)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, api_key_id, kind, code, run)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1;

-- Every row is correct, so the highest moment counts, regardless of which worker wrote it and when.
CREATE TABLE IF NOT EXISTS intake.watermark_raw (
  kind LowCardinality(String),
  visible_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(visible_until)
ORDER BY kind
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0;
