import t from 'tap'
import { until } from '@intake/test-kit/until'
import { ask, skip, startWithTables } from './clickhouse-of-test.ts'

interface Setting {
  name: string
  type: string
  value: string
  isFixed: boolean
  max: string | null
}

t.test('the limits of analysts', { skip }, async (t) => {
  const { server, owner, connect } = await startWithTables(t)
  const urls = { analyst: server.analystUrl, reader: server.readerUrl }

  async function settingsOf(url: string): Promise<Setting[]> {
    const { text } = await ask(
      url,
      `SELECT name, type, value, readonly = 1 AS isFixed, max FROM system.settings
       WHERE NOT is_obsolete AND alias_for = '' FORMAT JSON`,
    )
    return (JSON.parse(text) as { data: Setting[] }).data
  }

  await t.test('each is refused beyond it, as a setting of the query and of the URL', async (t) => {
    for (const [user, url] of Object.entries(urls)) {
      const limited = (await settingsOf(url)).filter(({ isFixed, max }) => isFixed || max !== null)
      t.ok(limited.length > 70, `${user}: ${limited.length} settings`)
      for (const { name, type, value, max } of limited) {
        const other = max === null ? otherThan(value) : `${Number(max) + 1}`
        const inQuery = await ask(url, `SELECT 1 SETTINGS ${name} = ${literal(other, type)}`)
        const inUrl = await ask(url, 'SELECT 1', { [name]: other })
        for (const { text } of [inQuery, inUrl])
          t.match(text, /SETTING_CONSTRAINT_VIOLATION|READONLY/, `${user}: ${name} = ${other}`)
      }
    }
  })

  await t.test('every setting of these kinds has one, or does no harm', async (t) => {
    const harmful =
      /thread|streams|sleep|bandwidth|nice|priority|fuzz|untracked|overcommit|profiler|^log_quer|trace|_depth$|ast_elements|^compatibility$|file_path|^output_format_schema$|_parallel_replicas$/
    const free = (await settingsOf(urls.analyst)).filter(
      ({ name, isFixed, max }) => harmful.test(name) && !isFixed && max === null,
    )
    t.same(free.map(({ name }) => name).toSorted(), harmless)
  })

  await t.test('ten of the dearest queries end after a read and an insert of others', async (t) => {
    const [reader, worker] = [connect(server.readerUrl), connect(server.workerUrl)]
    const sql = `SELECT sum(cityHash64(number)) FROM numbers_mt(1e15)
      SETTINGS max_threads = 'auto', max_block_size = 65536, max_execution_time = 120`
    const dear = Promise.all(Array.from({ length: 10 }, () => ask(urls.analyst, sql)))
    const running = async () => {
      const [row] = await owner.query<{ n: number }>(
        "SELECT count() AS n FROM system.processes WHERE user = 'analyst' AND read_rows > 0",
      )
      return row?.n
    }
    await until('ten run', async () => (await running()) === 10)

    t.same(await reader.query('SELECT count() AS n FROM intake.feedback'), [{ n: 0 }])
    await worker.command(
      `INSERT INTO intake.logs_raw (id, time, received_at, bundle_identifier, event)
       SELECT generateUUIDv7() AS id, UUIDv7ToDateTime(id, 'UTC'), now64(3), 'app', 'tap'`,
    )
    t.equal(await running(), 10, 'both ended while all ten run')

    await owner.command("KILL QUERY WHERE user = 'analyst' SYNC")
    for (const { text } of await dear) t.match(text, /QUERY_WAS_CANCELLED/)
  })

  await t.test('no table function shows what the views hide', async (t) => {
    const word = 'hidden5word'
    await owner.command(
      `CREATE TABLE intake.hidden (id UInt64, word String,
         INDEX words word TYPE text(tokenizer = 'splitByNonAlpha'),
         PROJECTION sorted (SELECT word, id ORDER BY word))
       ENGINE = MergeTree ORDER BY word`,
    )
    await owner.command(`INSERT INTO intake.hidden VALUES (1, '${word}')`)
    const [table] = await owner.query<{ uuid: string }>(
      "SELECT uuid FROM system.tables WHERE name = 'hidden'",
    )
    const functions = await owner.query<{ name: string }>('SELECT name FROM system.table_functions')
    t.ok(functions.length > 60, `${functions.length} table functions`)
    const read = 'SELECT word FROM intake.hidden'
    const callsOf = (name: string) =>
      [
        'intake.hidden',
        `'intake', 'hidden'`,
        'intake, hidden',
        'intake, hidden, sorted',
        'intake, hidden, words',
        `'${table?.uuid}'`,
        read,
        `'${read}'`,
        `'EXPLAIN', '', (${read})`,
        `${read} ELSE null('word String')`,
        `'127.0.0.1', intake.hidden`,
      ].map((args) => `SELECT * FROM ${name}(${args}) LIMIT 10`)
    const settings = { allow_experimental_eval_table_function: '1' }
    for (const { name } of functions) {
      const texts = await Promise.all(
        callsOf(name).map(async (sql) => (await ask(urls.analyst, sql, settings)).text),
      )
      t.notMatch(texts.join('\n'), word, name)
    }
    // The owner has no limits, so the same calls return the secret. This proves that they work.
    for (const name of ['merge', 'mergeTreeProjection', 'mergeTreeTextIndex', 'view', 'eval']) {
      const texts = await Promise.all(
        callsOf(name).map(async (sql) => (await ask(server.url, sql, settings)).text),
      )
      t.match(texts.join('\n'), word, name)
    }
    await owner.command('DROP TABLE intake.hidden')
  })
})

const isNumber = (value: string) => /^-?[\d.]+$/.test(value)

/** A different value of the same type. */
function otherThan(value: string) {
  if (isNumber(value)) return `${Number(value) === 1 ? 0 : Number(value) + 1}`
  const others = { '{}': "{'intake.logs': '1'}", throw: 'break', QUERY_START: 'QUERY_FINISH' }
  return new Map(Object.entries({ ...others, file: 'string' })).get(value) ?? '1'
}

const literal = (value: string, type: string) =>
  (isNumber(value) && type !== 'String') || type === 'Map' ? value : `'${value}'`

/**
 * Settings that analysts may change although their names match `harmful`. They concern inserts or
 * other servers, or affect only the query that sets them.
 */
const harmless = [
  'allow_fuzz_query_functions',
  'backup_slow_all_threads_after_retryable_s3_error',
  'cache_warmer_threads',
  'calculate_text_stack_trace',
  'distributed_background_insert_max_sleep_time_ms',
  'distributed_background_insert_sleep_time_ms',
  'enable_job_stack_trace',
  'input_format_json_max_depth',
  'jemalloc_collect_profile_samples_in_trace_log',
  'log_query_views',
  'low_priority_query_wait_time_ms',
  'max_backup_bandwidth',
  'max_distributed_depth',
  'max_insert_delayed_streams_for_parallel_write',
  'max_insert_threads_min_free_memory_per_thread',
  'max_parallel_replicas',
  'max_streams_for_files_processing_in_cluster_functions',
  'max_streams_for_union_step',
  'max_streams_for_union_step_to_max_threads_ratio',
  'memory_profiler_sample_max_allocation_size',
  'memory_profiler_sample_min_allocation_size',
  'merge_tree_use_prefixes_deserialization_thread_pool',
  'min_outstreams_per_resize_after_split',
  'opentelemetry_start_keeper_trace_probability',
  'opentelemetry_trace_cpu_scheduling',
  'os_threads_nice_value_materialized_view',
  'query_plan_enable_multithreading_after_window_functions',
  'read_priority',
  's3_slow_all_threads_after_network_error',
  'storage_system_stack_trace_pipe_read_timeout_ms',
  'trace_profile_events_list',
]
