-- `country` is a code of two capital letters; NULL when the gateway does not know the country.
ALTER TABLE intake.logs_raw
ADD COLUMN IF NOT EXISTS country LowCardinality(Nullable(String)) AFTER request_id;

ALTER TABLE intake.feedback_raw
ADD COLUMN IF NOT EXISTS country LowCardinality(Nullable(String)) AFTER request_id;
