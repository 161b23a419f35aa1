-- The mark that Redis and ClickHouse share, so that a Redis that has lost its data is detected.
CREATE TABLE IF NOT EXISTS intake.installation (
  id String,
  created_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = MergeTree
ORDER BY created_at
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
