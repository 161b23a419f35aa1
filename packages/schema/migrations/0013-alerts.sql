-- The changes of each alert's state, with its definition. A row is written again at each evaluation;
-- the latest counts.
CREATE TABLE IF NOT EXISTS intake.alerts_raw (
  id String,
  change UInt64,
  bundle_identifier LowCardinality(String),
  event String,
  version_name String,
  condition LowCardinality(String),
  threshold Float64,
  unit LowCardinality(String),
  minutes UInt32,
  created_at DateTime64(3, 'UTC'),
  created_by String,
  state LowCardinality(String),
  since DateTime64(3, 'UTC'),
  value Nullable(Float64),
  usual Nullable(Float64),
  detail String,
  told LowCardinality(String),
  is_message UInt8,
  evaluated_at DateTime64(3, 'UTC'),
  valid_until DateTime64(3, 'UTC'),
  is_removed UInt8
)
ENGINE = ReplacingMergeTree(evaluated_at)
ORDER BY (id, change)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1;
