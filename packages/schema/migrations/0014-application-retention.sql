-- How long records of an application are kept, if that is shorter than `intake.retention`.
CREATE TABLE IF NOT EXISTS intake.application_retention (
  kind LowCardinality(String),
  bundle_identifier String,
  days UInt32,
  set_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(set_at)
ORDER BY (kind, bundle_identifier)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
