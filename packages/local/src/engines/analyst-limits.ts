/**
 * The settings that analysts and the user `reader` may not change. With `readonly = 2` alone, they
 * could change them. deploy/clickhouse/users.xml has the same list, and a test compares both. If a
 * new version of the engine has a new setting that looks dangerous, analyst-limits.slow.test.ts
 * fails until the setting is added here.
 */

/** Settings that no query can change. Without a value in the profile, the default applies. */
const fixed = [
  // With these settings, a query could show rows that the views hide, or read with the rights of
  // the views.
  'final',
  'use_skip_indexes_if_final_exact_mode',
  'additional_table_filters',
  'additional_result_filter',
  'parallel_replicas_custom_key',
  // `compatibility` would change the defaults of other settings, including those in this list.
  'compatibility',
  'apply_deleted_mask',
  'apply_patch_parts',

  // With these settings, a query could write files: in the embedded engine, any file of its data.
  'output_format_schema',
  'input_format_record_errors_file_path',
  'rename_files_after_processing',
  'format_schema_source',

  // These settings limit all queries of a user together.
  'max_memory_usage_for_user',
  'max_temporary_data_on_disk_size_for_user',
  'max_concurrent_queries_for_user',

  // With these settings, a query could use more threads than max_threads allows, or run before
  // other queries.
  'aggregation_memory_efficient_merge_threads',
  'max_insert_threads',
  'max_threads_for_indexes',
  'max_streams_for_merge_tree_reading',
  'max_streams_to_max_threads_ratio',
  'max_streams_multiplier_for_merge_tables',
  'use_concurrency_control',
  'os_threads_nice_value_query',
  'priority',
  'workload',

  // With these settings, a query could use memory that is not counted, or keep memory that other
  // queries need.
  'max_untracked_memory',
  'memory_overcommit_ratio_denominator',
  'memory_overcommit_ratio_denominator_for_user',
  'memory_usage_overcommit_max_wait_microseconds',

  // With these settings, a query could wait in a way that neither a time limit nor KILL QUERY ends.
  // The limits of bandwidth are among them, because the engine enforces such a limit by making the
  // query wait.
  'function_sleep_max_microseconds_per_block',
  'sleep_after_receiving_query_ms',
  'sleep_in_send_data_ms',
  'sleep_in_send_tables_status_ms',
  'merge_tree_storage_snapshot_sleep_ms',
  'max_local_read_bandwidth',
  'max_local_write_bandwidth',
  'max_remote_read_network_bandwidth',
  'max_remote_write_network_bandwidth',
  'max_network_bandwidth',
  'max_network_bandwidth_for_user',
  'max_network_bandwidth_for_all_users',
  'timeout_overflow_mode',

  // With these settings, parsing and planning a query could take too long. No time limit ends these
  // phases.
  'max_query_size',
  'max_parser_depth',
  'max_parser_backtracks',
  'max_ast_depth',
  'max_ast_elements',
  'max_expanded_ast_elements',
  'max_subquery_depth',
  'max_analyze_depth',
  'max_recursive_cte_evaluation_depth',
  'query_plan_optimize_join_order_limit',
  'query_plan_max_optimizations_to_apply',
  'ast_fuzzer_runs',
  'ast_fuzzer_any_query',

  // With these settings, compiling and running one regular expression could take too long.
  'reject_expensive_hyperscan_regexps',
  'regexp_max_matches_per_row',

  // These settings determine what the server logs of every query, and how much it writes for a
  // query.
  'log_queries',
  'log_queries_min_type',
  'log_queries_min_query_duration_ms',
  'log_queries_probability',
  'log_queries_cut_to_length',
  'log_formatted_queries',
  'log_query_settings',
  'log_query_threads',
  'query_metric_log_interval',
  'query_profiler_real_time_period_ns',
  'query_profiler_cpu_time_period_ns',
  'memory_profiler_step',
  'memory_profiler_sample_probability',
  'jemalloc_enable_profiler',
  'trace_profile_events',
  'opentelemetry_start_trace_probability',
  'opentelemetry_trace_processors',
]

/** ClickHouse 26.3, which a deployed server may run, does not have these settings. */
export const fixedFrom26_6 = [
  'max_threads_min_free_memory_per_thread',
  'query_plan_optimize_join_order_max_searched_plans',
]

/**
 * Maximum values that a query may set. `auto` is the number of processors, which is also the
 * default. Even if ten queries use that many threads each, other reads and inserts get their share.
 */
const atMost: Record<string, number | string> = {
  max_threads: 'auto',
  max_final_threads: 'auto',
  max_parsing_threads: 'auto',
  max_download_threads: 4,
  // A time limit is checked only between blocks. With small blocks it is therefore checked often.
  max_block_size: 65_536,
}

const within: Record<string, [min: number, max: number]> = {
  max_execution_time: [1, 120],
  max_memory_usage: [1, 1024 ** 3],
}

/** The elements of `<constraints>` in the analysts' profile. */
export const analystConstraints: readonly string[] = [
  ...[...fixed, ...fixedFrom26_6].map((name) => `<${name}><const/></${name}>`),
  ...Object.entries(atMost).map(([name, max]) => `<${name}><max>${max}</max></${name}>`),
  ...Object.entries(within).map(
    ([name, [min, max]]) => `<${name}><min>${min}</min><max>${max}</max></${name}>`,
  ),
]
