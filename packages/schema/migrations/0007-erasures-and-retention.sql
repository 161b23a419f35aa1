-- The erasures that were started, as proof. Each has a hash of its subject.
CREATE TABLE IF NOT EXISTS intake.erasures (
  id UUID,
  kind LowCardinality(String),
  subject_sha256 String,
  started_at DateTime64(3, 'UTC'),
  finished_at Nullable(DateTime64(3, 'UTC')),
  report String,
  ver UInt64
)
ENGINE = ReplacingMergeTree(ver)
ORDER BY id
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;

-- How long records are kept.
CREATE TABLE IF NOT EXISTS intake.retention (
  kind LowCardinality(String),
  days UInt32,
  set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY kind
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
