-- The tables of records. An absent device field is NULL, an absent list is empty.
--
-- The columns of the sorting key are the identity. The key also contains the day and the hour, but
-- they follow from `time`, so they do not change which rows are the same record. The order of the
-- columns was chosen by measurements (docs/decisions/0011). Rows with the same key are versions of
-- one record, and the version with the highest `ver` is shown. `ver` decreases with the time of
-- arrival (`received_at`), so the version that was accepted first wins. From the year 2286 on, `ver`
-- would be negative. A tombstone has the highest possible `ver`. `time` must be the time inside
-- `id`: otherwise a retry could become another record, in another partition. The range of `time` is
-- `recordTimeMs` of the contract.
CREATE TABLE IF NOT EXISTS intake.logs_raw (
  id UUID,
  time DateTime64(3, 'UTC'),
  received_at DateTime64(3, 'UTC'),
  bundle_identifier LowCardinality(String),
  device_uuid UUID,
  unique_user_id String,
  api_key_id LowCardinality(String),
  request_id UUID,
  device Tuple(
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
),
  device_extra JSON(max_dynamic_paths = 0),
  event LowCardinality(String),
  params JSON(max_dynamic_paths = 16),
  client_timestamp Nullable(DateTime64(3, 'UTC')),
  extra JSON(max_dynamic_paths = 0),
  ver UInt64 DEFAULT 10000000000000 - toUnixTimestamp64Milli(received_at),
  is_deleted UInt8 DEFAULT 0,
  INDEX by_id id TYPE bloom_filter(0.001),
  INDEX by_device device_uuid TYPE bloom_filter(0.001),
  INDEX by_user unique_user_id TYPE bloom_filter(0.001),
  INDEX by_request request_id TYPE bloom_filter(0.001),
  CONSTRAINT time_is_in_id CHECK time = UUIDv7ToDateTime(id, 'UTC')
    AND time > toDateTime64('2020-01-01 00:00:00', 3, 'UTC')
    AND time < toDateTime64('2200-01-01 00:00:00', 3, 'UTC'),
  CONSTRAINT has_application CHECK bundle_identifier != ''
)
ENGINE = ReplacingMergeTree(ver, is_deleted)
PARTITION BY toYYYYMM(time)
PRIMARY KEY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid)
ORDER BY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid, time, id)
SETTINGS
  index_granularity = 2048,
  default_compression_codec = 'ZSTD(1)',
  min_age_to_force_merge_seconds = 86400,
  min_age_to_force_merge_on_partition_only = 1,
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1,
  object_shared_data_serialization_version = 'map_with_buckets',
  object_shared_data_buckets_for_wide_part = 8;

CREATE TABLE IF NOT EXISTS intake.feedback_raw (
  id UUID,
  time DateTime64(3, 'UTC'),
  received_at DateTime64(3, 'UTC'),
  bundle_identifier LowCardinality(String),
  device_uuid UUID,
  unique_user_id String,
  api_key_id LowCardinality(String),
  request_id UUID,
  device Tuple(
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
),
  device_extra JSON(max_dynamic_paths = 0),
  feedback_id Nullable(UUID),
  email Nullable(String),
  text String,
  attachments Array(Tuple(key String, content_type String, bytes UInt64, sha256 String)),
  client_timestamp Nullable(DateTime64(3, 'UTC')),
  extra JSON(max_dynamic_paths = 0),
  ver UInt64 DEFAULT 10000000000000 - toUnixTimestamp64Milli(received_at),
  is_deleted UInt8 DEFAULT 0,
  INDEX by_id id TYPE bloom_filter(0.001),
  INDEX by_device device_uuid TYPE bloom_filter(0.001),
  INDEX by_user unique_user_id TYPE bloom_filter(0.001),
  INDEX by_request request_id TYPE bloom_filter(0.001),
  CONSTRAINT time_is_in_id CHECK time = UUIDv7ToDateTime(id, 'UTC')
    AND time > toDateTime64('2020-01-01 00:00:00', 3, 'UTC')
    AND time < toDateTime64('2200-01-01 00:00:00', 3, 'UTC'),
  CONSTRAINT has_application CHECK bundle_identifier != ''
)
ENGINE = ReplacingMergeTree(ver, is_deleted)
PARTITION BY toYYYYMM(time)
PRIMARY KEY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid)
ORDER BY (toDate(time), bundle_identifier, toStartOfHour(time), device_uuid, time, id)
SETTINGS
  index_granularity = 2048,
  default_compression_codec = 'ZSTD(1)',
  min_age_to_force_merge_seconds = 86400,
  min_age_to_force_merge_on_partition_only = 1,
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1,
  object_shared_data_serialization_version = 'map_with_buckets',
  object_shared_data_buckets_for_wide_part = 8;

CREATE VIEW IF NOT EXISTS intake.logs DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT id, time, received_at, client_timestamp, bundle_identifier, device_uuid, unique_user_id, api_key_id, request_id, device, device_extra, event, params, extra
FROM intake.logs_raw FINAL;

CREATE VIEW IF NOT EXISTS intake.feedback DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT id, time, received_at, client_timestamp, bundle_identifier, device_uuid, unique_user_id, api_key_id, request_id, device, device_extra, feedback_id, email, text, attachments, extra
FROM intake.feedback_raw FINAL;
