-- Hashes of the names that a row was the first in its month to count. All names of an application
-- in a month are those of its rows; their number is limited.
ALTER TABLE intake.hours_raw ADD COLUMN IF NOT EXISTS new_names Array(UInt64) AFTER device_states;
ALTER TABLE intake.days_raw ADD COLUMN IF NOT EXISTS new_names Array(UInt64) AFTER warnings;
