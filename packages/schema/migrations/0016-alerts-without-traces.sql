-- Alerts keep no stack traces: intake.crashes shows them, as long as the log events are kept.
ALTER TABLE intake.alerts_raw DROP COLUMN IF EXISTS detail;
