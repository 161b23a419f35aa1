-- Fewer buckets are faster to read: a query on params reads most of them
-- (docs/decisions/0020-exact-arrays.md).
ALTER TABLE intake.logs_raw MODIFY SETTING object_shared_data_buckets_for_wide_part = 4;

-- A path that has a column of its own has one type of array for all rows of an insert or of a part:
-- `[21.5]` of one application rounded the large integers of another, and `[null]` became `[[]]`.
-- Without such paths every value has its own type. ClickHouse rewrites the rows in the background;
-- until then it converts them when they are read. The views keep the former type until the
-- definitions are applied, after the migrations.
ALTER TABLE intake.logs_raw
MODIFY COLUMN params JSON(max_dynamic_paths = 0) SETTINGS alter_sync = 0;
