-- Two capital letters; NULL when the gateway was not told.
ALTER TABLE intake.logs_raw
ADD COLUMN IF NOT EXISTS country LowCardinality(Nullable(String)) AFTER request_id;

ALTER TABLE intake.feedback_raw
ADD COLUMN IF NOT EXISTS country LowCardinality(Nullable(String)) AFTER request_id;
