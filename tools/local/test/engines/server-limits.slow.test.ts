import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startClickHouse } from '../../src/index.ts'
import { ask as askAs, skip } from './clickhouse-of-test.ts'

t.test('limits of the server, which no setting of a query removes', { skip }, async (t) => {
  const dataDir = createDataDir(t)
  const leftovers = ['tmp/of-a-query', 'data/system/query_log/part'].map((name) =>
    join(dataDir, 'data', name),
  )
  for (const folder of leftovers) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'data.bin'), 'of a killed engine')
  }
  const server = await startClickHouse({ dataDir, port: 0 })
  t.teardown(() => server.stop())
  const ask = async (sql: string, parameters?: Record<string, string>) =>
    (await askAs(server.analystUrl, sql, parameters)).text

  await t.test('what a killed engine left on the disk is gone', (t) => {
    for (const folder of leftovers) t.notOk(existsSync(folder), folder)
    t.end()
  })

  await t.test('a query writes no more than 1 GiB to the disk', async (t) => {
    const spill = [
      'max_threads = 1, max_block_size = 500, max_execution_time = 120',
      'max_bytes_before_external_sort = 30000000, max_bytes_ratio_before_external_sort = 0',
      'prefer_external_sort_block_bytes = 1000000, temporary_files_buffer_size = 65536',
      'max_temporary_data_on_disk_size_for_user = DEFAULT',
    ].join(', ')
    const answer = await ask(
      `SELECT count() FROM (SELECT x FROM (SELECT randomString(10000) AS x FROM numbers(10000000))
       ORDER BY x LIMIT 9999999) SETTINGS ${spill}`,
    )
    t.match(answer, /temporary files.*TOO_MANY_ROWS_OR_BYTES/s)
  })

  await t.test('a session ends after a second', async (t) => {
    const refused = await ask('SELECT 1', { session_id: 'one', session_timeout: '2' })
    t.match(refused, /INVALID_SESSION_TIMEOUT/)
    t.equal(await ask('SELECT 1', { session_id: 'one' }), '1\n')
  })

  await t.test('no result is kept', async (t) => {
    // ClickHouse's own page for queries can send these parameters.
    const parameters = {
      use_query_cache: '1',
      enable_reads_from_query_cache: '1',
      enable_writes_to_query_cache: '1',
      query_cache_ttl: '600',
      query_cache_nondeterministic_function_handling: 'save',
      query_cache_system_table_handling: 'ignore',
    }
    const first = await ask('SELECT now64(9)', parameters)
    t.match(first, /^\d{4}-/)
    t.not(await ask('SELECT now64(9)', parameters), first)
  })

  await t.test('no query is logged', async (t) => {
    t.match(await ask('SELECT count() FROM system.query_log'), /^Code: /)
    t.notOk(existsSync(leftovers[1]!))
  })
})
