import type { Migration } from './migration.ts'

/**
 * Counts of accepted and refused records. Each row is the count of one gateway process; a later report
 * of the same count is higher and replaces it, so a redelivered or reordered report changes nothing.
 */
const outcomes = `CREATE TABLE IF NOT EXISTS intake.outcomes_raw (
  minute DateTime('UTC'),
  api_key_id LowCardinality(String),
  kind LowCardinality(String),
  code LowCardinality(String),
  run UUID COMMENT 'One gateway process; another one each time it begins to count this minute',
  records UInt64 COMMENT 'Cumulative: the highest number counts'
)
ENGINE = ReplacingMergeTree(records)
PARTITION BY toYYYYMM(minute)
ORDER BY (minute, api_key_id, kind, code, run)
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0,
  fsync_after_insert = 1,
  fsync_part_directory = 1
COMMENT 'Read intake.outcomes instead'`

const outcomesView = `CREATE VIEW IF NOT EXISTS intake.outcomes (
  minute DateTime('UTC') COMMENT 'Minute in which the record arrived (received_at), or was refused',
  api_key_id LowCardinality(String) COMMENT 'Empty: no valid API key',
  kind LowCardinality(String) COMMENT 'logs or feedback; empty: the request had neither path',
  code LowCardinality(String) COMMENT 'accepted, a code of docs/errors.md, or overflow: not counted under its own key and code',
  records UInt64 COMMENT 'Acknowledged or refused records; a repeat counts again, and a refused request whose records were not read counts once'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT minute, api_key_id, kind, code, sum(records) AS records
FROM intake.outcomes_raw FINAL
GROUP BY minute, api_key_id, kind, code
COMMENT 'How many records each API key had accepted or refused, per minute'`

/** Every row is true, so the highest one counts, whichever worker wrote it and in whatever order. */
const watermark = `CREATE TABLE IF NOT EXISTS intake.watermark_raw (
  kind LowCardinality(String),
  visible_until DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(visible_until)
ORDER BY kind
SETTINGS
  non_replicated_deduplication_window = 0,
  replicated_deduplication_window = 0
COMMENT 'Read intake.watermark instead'`

const watermarkView = `CREATE VIEW IF NOT EXISTS intake.watermark (
  kind LowCardinality(String) COMMENT 'logs or feedback',
  visible_until DateTime64(3, 'UTC') COMMENT 'Every record that was acknowledged before it, or has an earlier received_at, is visible or a dead letter'
)
DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT kind, max(watermark_raw.visible_until) AS visible_until
FROM intake.watermark_raw
GROUP BY kind
COMMENT 'Up to which moment everything that was accepted is visible'`

export const outcomesAndWatermark: Migration = {
  name: '0006-outcomes-and-watermark',
  statements: [outcomes, outcomesView, watermark, watermarkView],
}
