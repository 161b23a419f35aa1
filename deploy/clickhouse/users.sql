-- The users of deploy/clickhouse/users.xml for servers without such a file, such as ClickHouse Cloud.
-- Run as an administrator, those of worker, reader and analyst after `intake setup`; put passwords for '…'.
-- An analyst could read with the rights of the views by settings of a subquery that the owner may change.
CREATE USER intake IDENTIFIED BY '…' SETTINGS use_skip_indexes_if_final_exact_mode = 1 CONST, apply_deleted_mask CONST,
  apply_patch_parts CONST, additional_table_filters CONST, additional_result_filter CONST, parallel_replicas_custom_key CONST;
GRANT ALL ON intake.* TO intake;
GRANT CREATE FUNCTION, DROP FUNCTION ON *.* TO intake;
GRANT SELECT ON system.* TO intake;
-- for operators
GRANT KILL QUERY ON *.* TO intake;
GRANT TRUNCATE ON system.query_log TO intake;
-- for intake analysts
GRANT SELECT ON intake.* TO intake WITH GRANT OPTION;
GRANT ALL ON intake_*.* TO intake WITH GRANT OPTION;
GRANT SET DEFINER ON intake_* TO intake;
GRANT CREATE USER, ALTER USER, DROP USER ON intake_* TO intake;
GRANT SELECT ON information_schema.* TO intake WITH GRANT OPTION;
GRANT SELECT ON INFORMATION_SCHEMA.* TO intake WITH GRANT OPTION;
GRANT SELECT ON system.parts TO intake WITH GRANT OPTION;
GRANT SELECT ON system.processes TO intake WITH GRANT OPTION;
GRANT CREATE ROW POLICY, ALTER ROW POLICY, DROP ROW POLICY ON system.processes TO intake;
CREATE USER worker IDENTIFIED BY '…' SETTINGS async_insert = 0, output_format_schema CONST,
  input_format_record_errors_file_path CONST, rename_files_after_processing CONST, format_schema_source CONST;
GRANT INSERT ON intake.logs_raw TO worker;
GRANT INSERT ON intake.feedback_raw TO worker;
GRANT INSERT ON intake.dead_letters_raw TO worker;
GRANT INSERT ON intake.outcomes_raw TO worker;
GRANT INSERT ON intake.watermark_raw TO worker;
GRANT INSERT ON intake.hours_raw TO worker;
GRANT INSERT ON intake.days_raw TO worker;
GRANT INSERT ON intake.counted_raw TO worker;
GRANT INSERT ON intake.recounts_raw TO worker;
GRANT INSERT ON intake.attachments_raw TO worker;
GRANT INSERT ON intake.alerts_raw TO worker;
GRANT INSERT ON intake.journal TO worker;
GRANT SELECT(id, created_at) ON intake.installation TO worker;
GRANT SELECT(table) ON intake.dead_letters TO worker;
GRANT SELECT(kind, visible_until) ON intake.watermark TO worker;
GRANT SELECT(query_id, user, query) ON system.processes TO worker;
-- as the profile `analyst` of users.xml; of a setting that your version does not know, leave out the entry
CREATE SETTINGS PROFILE analyst SETTINGS readonly = 2, session_timezone = 'UTC', final = 1 CONST, distributed_product_mode = 'global',
  use_skip_indexes_if_final_exact_mode = 1 CONST, optimize_move_to_prewhere_if_final = 1, json_type_escape_dots_in_keys = 1,
  precise_float_parsing = 1, allow_suspicious_types_in_group_by = 1, allow_suspicious_types_in_order_by = 1,
  output_format_native_write_json_as_string = 1,
  cancel_http_readonly_queries_on_client_close = 1, max_execution_time = 30 MIN 1 MAX 125, max_memory_usage = 1073741824 MIN 1 MAX 1073741824,
  max_temporary_data_on_disk_size_for_user = 1073741824 CONST, max_result_rows = 1000000, result_overflow_mode = 'throw',
  additional_table_filters CONST, additional_result_filter CONST, parallel_replicas_custom_key CONST,
  enable_parallel_replicas CONST, cluster_for_parallel_replicas CONST, compatibility CONST, apply_deleted_mask CONST, apply_patch_parts CONST, enable_analyzer CONST, prefer_column_name_to_alias CONST, output_format_schema CONST,
  input_format_record_errors_file_path CONST, rename_files_after_processing CONST, format_schema_source CONST,
  aggregation_memory_efficient_merge_threads CONST, max_insert_threads CONST, max_threads_for_indexes CONST,
  max_streams_for_merge_tree_reading CONST, max_streams_to_max_threads_ratio CONST,
  max_streams_multiplier_for_merge_tables CONST, use_concurrency_control CONST, os_threads_nice_value_query CONST,
  priority CONST, workload CONST, max_untracked_memory CONST, memory_overcommit_ratio_denominator CONST,
  memory_overcommit_ratio_denominator_for_user CONST, memory_usage_overcommit_max_wait_microseconds CONST,
  function_sleep_max_microseconds_per_block CONST, sleep_after_receiving_query_ms CONST, sleep_in_send_data_ms CONST,
  sleep_in_send_tables_status_ms CONST, merge_tree_storage_snapshot_sleep_ms CONST, max_local_read_bandwidth CONST,
  max_local_write_bandwidth CONST, max_remote_read_network_bandwidth CONST, max_remote_write_network_bandwidth CONST,
  max_network_bandwidth CONST, max_network_bandwidth_for_user CONST, max_network_bandwidth_for_all_users CONST,
  timeout_overflow_mode CONST, max_query_size CONST, max_parser_depth CONST, max_parser_backtracks CONST,
  max_ast_depth CONST, max_ast_elements CONST, max_expanded_ast_elements CONST, max_subquery_depth CONST,
  max_analyze_depth CONST, max_recursive_cte_evaluation_depth CONST, query_plan_optimize_join_order_limit CONST,
  query_plan_max_optimizations_to_apply CONST, ast_fuzzer_runs CONST, ast_fuzzer_any_query CONST,
  reject_expensive_hyperscan_regexps CONST, regexp_max_matches_per_row CONST, log_queries CONST, log_queries_min_type
  CONST, log_queries_min_query_duration_ms CONST, log_queries_probability CONST, log_queries_cut_to_length CONST,
  log_formatted_queries CONST, log_query_settings CONST, log_query_threads CONST, query_metric_log_interval CONST,
  query_profiler_real_time_period_ns CONST, query_profiler_cpu_time_period_ns CONST, memory_profiler_step CONST,
  memory_profiler_sample_probability CONST, jemalloc_enable_profiler CONST, trace_profile_events CONST,
  opentelemetry_start_trace_probability CONST, opentelemetry_trace_processors CONST,
  max_threads_min_free_memory_per_thread CONST, query_plan_optimize_join_order_max_searched_plans CONST, max_threads
  MAX auto, max_final_threads MAX auto, max_parsing_threads MAX auto, max_download_threads MAX 4, max_block_size MAX
  65536;
CREATE USER analyst IDENTIFIED BY '…' SETTINGS PROFILE analyst,
  max_concurrent_queries_for_user = 10 CONST, max_memory_usage_for_user = 1073741824 CONST;
GRANT SELECT ON intake.logs TO analyst;
GRANT SELECT ON intake.feedback TO analyst;
GRANT SELECT ON intake.logs_flat TO analyst;
GRANT SELECT ON intake.feedback_flat TO analyst;
GRANT SELECT ON intake.devices TO analyst;
GRANT SELECT ON intake.devices_flat TO analyst;
GRANT SELECT ON intake.recent TO analyst;
GRANT SELECT ON intake.sessions TO analyst;
GRANT SELECT ON intake.deletions TO analyst;
GRANT SELECT ON intake.gaps TO analyst;
GRANT SELECT ON intake.crashes TO analyst;
GRANT SELECT ON intake.dead_letters TO analyst;
GRANT SELECT ON intake.outcomes TO analyst;
GRANT SELECT ON intake.watermark TO analyst;
GRANT SELECT ON intake.hours TO analyst;
GRANT SELECT ON intake.device_hours TO analyst;
GRANT SELECT ON intake.catalogue TO analyst;
GRANT SELECT ON intake.drift TO analyst;
GRANT SELECT ON intake.alerts TO analyst;
GRANT SELECT ON intake.alert_states TO analyst;
GRANT SELECT ON intake.alert_changes TO analyst;
GRANT SELECT ON intake.warnings TO analyst;
GRANT SELECT ON intake.counted TO analyst;
GRANT SELECT ON information_schema.* TO analyst;
GRANT SELECT ON INFORMATION_SCHEMA.* TO analyst;
GRANT SELECT ON system.parts TO analyst;
-- for KILL QUERY: an analyst sees and cancels only the queries of analysts
GRANT SELECT ON system.processes TO analyst;
CREATE ROW POLICY own_queries ON system.processes USING user = currentUser() TO analyst;
-- for consoles (PAGE_CLICKHOUSE_URL): of its own, so that analysts cannot use up its limits
CREATE USER reader IDENTIFIED BY '…' SETTINGS PROFILE analyst, max_memory_usage = 536870912 MIN 1 MAX 1073741824,
  max_concurrent_queries_for_user = 50 CONST, max_memory_usage_for_user = 805306368 CONST;
GRANT SELECT ON intake.logs TO reader;
GRANT SELECT ON intake.logs_flat TO reader;
GRANT SELECT ON intake.feedback TO reader;
GRANT SELECT ON intake.dead_letters TO reader;
GRANT SELECT ON intake.outcomes TO reader;
GRANT SELECT ON intake.watermark TO reader;
GRANT SELECT ON intake.hours TO reader;
GRANT SELECT ON intake.device_hours TO reader;
GRANT SELECT ON intake.catalogue TO reader;
GRANT SELECT ON intake.drift TO reader;
GRANT SELECT ON intake.crashes TO reader;
GRANT SELECT ON intake.alert_states TO reader;
GRANT SELECT ON intake.alert_changes TO reader;
GRANT SELECT(id, at, who, action, subject) ON intake.journal TO reader;
GRANT SELECT ON intake.warnings TO reader;
GRANT SELECT ON intake.counted TO reader;
GRANT SELECT ON intake.counted_names TO reader;
GRANT SELECT ON intake.recounts TO reader;