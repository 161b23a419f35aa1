-- The fraction of devices whose events of this kind a sampling rule lets through; 1 without such a
-- rule.
ALTER TABLE intake.logs_raw
ADD COLUMN IF NOT EXISTS sample_rate Float64 DEFAULT 1 AFTER extra;

-- The rule that dropped the records. It is part of the identity of a count.
ALTER TABLE intake.outcomes_raw
ADD COLUMN IF NOT EXISTS rule LowCardinality(String), MODIFY ORDER BY (minute, api_key_id, kind, code, run, rule);

-- What operators have changed. An entry that is written twice counts once.
CREATE TABLE IF NOT EXISTS intake.journal (
  id UUID,
  at DateTime64(3, 'UTC'),
  who String,
  action LowCardinality(String),
  subject String,
  detail String
)
ENGINE = ReplacingMergeTree
ORDER BY (at, id)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1;
