-- What workers found out about the pictures of a feedback: their size and their thumbnails. The
-- rows have the sorting key of intake.feedback_raw, so that the view can join the two tables day by
-- day. Each fact names the object that it is about, because another version of the feedback may
-- have other pictures.
CREATE TABLE IF NOT EXISTS intake.attachments_raw (
  id UUID,
  time DateTime64(3, 'UTC'),
  bundle_identifier LowCardinality(String),
  device_uuid UUID,
  facts Array(Tuple(key String, width Nullable(UInt32), height Nullable(UInt32), thumbnail_key Nullable(String), error Nullable(String))),
  examined_at DateTime64(3, 'UTC') DEFAULT now64(3)
)
ENGINE = ReplacingMergeTree(examined_at)
PARTITION BY toYYYYMM(time)
PRIMARY KEY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid)
ORDER BY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid, time, id)
SETTINGS
  index_granularity = 2048,
  default_compression_codec = 'ZSTD(1)',
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0;
