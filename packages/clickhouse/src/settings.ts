import type { ClickHouseSettings } from '@clickhouse/client'

/** Sent with every statement, so that ClickHouse responds only when the outcome is final. */
const common: ClickHouseSettings = {
  wait_end_of_query: 1,
}

/**
 * Makes ClickHouse confirm an insert through a Distributed table only when the shards have its
 * rows, and send rows to its own shard like to others; otherwise it would count them twice. Always
 * sent, so that a wrong setting of a worker cannot lose rows.
 */
const distributed: ClickHouseSettings = {
  distributed_foreground_insert: 1,
  prefer_localhost_replica: 0,
}

/**
 * ClickHouse stores a value as the client sent it or rejects it, and never guesses. The
 * measurements behind each line are in docs/decisions/0002-clickhouse-tables.md.
 */
export const insertSettings: ClickHouseSettings = {
  ...common,
  // No batching and no deduplication on the server: an insert is confirmed when it is stored.
  async_insert: 0,
  insert_deduplicate: 0,
  ...distributed,
  // Rows of one insert are not merged with each other, which costs a fifth of its CPU: merges of parts
  // do that, and views with FINAL until then.
  optimize_on_insert: 0,
  // Uses one thread. Two would be slightly faster but cost more CPU, which other work needs.
  max_threads: 1,
  input_format_parallel_parsing: 0,
  // Makes one invalid row reject the whole insert.
  input_format_allow_errors_num: '0',
  input_format_allow_errors_ratio: 0,
  // A field without a column is an error, not a silent loss.
  input_format_skip_unknown_fields: 0,
  input_format_json_ignore_unknown_keys_in_named_tuple: 0,
  input_format_json_defaults_for_missing_elements_in_named_tuple: 1,
  date_time_input_format: 'best_effort',
  // Before ClickHouse 26.7 the default algorithm reads one double in six as a neighboring double.
  precise_float_parsing: 1,
  // Inside JSON columns, values must keep their types.
  input_format_try_infer_dates: 0,
  input_format_try_infer_datetimes: 0,
  input_format_json_try_infer_numbers_from_strings: 0,
  input_format_json_read_bools_as_numbers: 0,
  input_format_json_read_bools_as_strings: 0,
  input_format_json_read_numbers_as_strings: 0,
  input_format_json_read_objects_as_strings: 0,
  input_format_json_read_arrays_as_strings: 0,
  // A dot in a key does not mean nesting: {"a.b": 1} and {"a": {"b": 1}} stay different.
  json_type_escape_dots_in_keys: 1,
  // Otherwise an array in which null stands next to an array, such as [[1], null], is rejected.
  input_format_null_as_default: 1,
  // Otherwise {"a%2Eb": 1, "a.b": 2} is rejected: its keys are equal after the dots are escaped.
  type_json_skip_duplicated_paths: 1,
  input_format_json_infer_array_of_dynamic_from_array_of_different_types: 1,
}

export const statementSettings: ClickHouseSettings = { ...common }

export const insertSelectSettings: ClickHouseSettings = {
  ...common,
  async_insert: 0,
  insert_deduplicate: 0,
  ...distributed,
}

export const querySettings: ClickHouseSettings = {
  ...common,
  default_format: 'JSONEachRow',
  output_format_json_quote_64bit_integers: 0,
  // The format that `isoTime` reads.
  date_time_output_format: 'simple',
  json_type_escape_dots_in_keys: 1,
}

export const clusterSettings = (requestTimeoutMs: number): ClickHouseSettings => ({
  // Makes a subquery see the rows of all shards, on any server.
  distributed_product_mode: 'global',
  // Makes INSERT … SELECT place every row by the sharding key, not where it was read.
  parallel_distributed_insert_select: '0',
  // Shorter than the timeout of the request, so that ClickHouse can report which server failed.
  distributed_ddl_task_timeout: String(beforeTimeout(requestTimeoutMs) / 1_000),
})

/** Makes ClickHouse confirm an insert only when `quorum` replicas of a shard have its rows. */
export const quorumSettings = (
  quorum: 'auto' | number,
  requestTimeoutMs: number,
): ClickHouseSettings => ({
  insert_quorum: String(quorum),
  insert_quorum_timeout: beforeTimeout(requestTimeoutMs),
})

const beforeTimeout = (requestTimeoutMs: number) =>
  Math.max(1, Math.floor((requestTimeoutMs * 0.9) / 1_000)) * 1_000
