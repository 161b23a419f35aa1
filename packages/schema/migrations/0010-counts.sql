-- Indexes rows by their arrival. The live view, and the search for hours that must be counted
-- again, then read only the granules that have new rows.
ALTER TABLE intake.logs_raw ADD INDEX IF NOT EXISTS by_received received_at TYPE minmax GRANULARITY 1;
ALTER TABLE intake.logs_raw MATERIALIZE INDEX by_received;
ALTER TABLE intake.feedback_raw ADD INDEX IF NOT EXISTS by_received received_at TYPE minmax GRANULARITY 1;
ALTER TABLE intake.feedback_raw MATERIALIZE INDEX by_received;

-- Counts of an application in an hour, recomputed as a whole from the records. A newer row replaces
-- an older one as a whole, so no outdated count remains. A state of `uniqCombined64(12)` is kept as
-- hexadecimal digits.
CREATE TABLE IF NOT EXISTS intake.hours_raw (
  bundle_identifier LowCardinality(String),
  hour DateTime('UTC'),
  event_counts Array(Tuple(event String, version_code Nullable(Int64), version_name String, records UInt64)),
  device_states Array(Tuple(version_name String, state String)),
  ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(hour)
ORDER BY (bundle_identifier, hour)
SETTINGS
  index_granularity = 256,
  default_compression_codec = 'ZSTD(1)',
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0;

-- What an application sent on a day, and the warnings about it.
CREATE TABLE IF NOT EXISTS intake.days_raw (
  bundle_identifier LowCardinality(String),
  day Date,
  entries Array(Tuple(event String, param String, type String, version_code Nullable(Int64), version_name String, first_seen DateTime64(3, 'UTC'), last_seen DateTime64(3, 'UTC'), records UInt64, devices UInt64)),
  warnings Array(Tuple(warning String, event String, path String, version_name String, first_seen DateTime64(3, 'UTC'), last_seen DateTime64(3, 'UTC'), records UInt64, example UUID)),
  ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
PARTITION BY toYYYYMM(day)
ORDER BY (bundle_identifier, day)
SETTINGS
  index_granularity = 16,
  default_compression_codec = 'ZSTD(1)',
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0;

-- Up to when hours and days have been counted. Every record that arrived before `counted_until` was
-- visible to the count that ran at `counted_at`.
CREATE TABLE IF NOT EXISTS intake.counted_raw (
  name LowCardinality(String),
  counted_until DateTime64(3, 'UTC'),
  counted_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(counted_at)
ORDER BY name
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0;

-- Hours that must be counted again although no record has arrived: records in them were erased, or
-- a dead letter was replayed.
CREATE TABLE IF NOT EXISTS intake.recounts_raw (
  bundle_identifier LowCardinality(String),
  hour DateTime('UTC'),
  asked_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(asked_at)
ORDER BY (bundle_identifier, hour)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1;
