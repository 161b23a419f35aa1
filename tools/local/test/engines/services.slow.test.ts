import { createHash } from 'node:crypto'
import { createClickHouse } from '@intake/clickhouse'
import { createObjectStore } from '@intake/object-store'
import { connectRedis } from '@intake/redis'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'

import { ask, startWithTables } from './clickhouse-of-test.ts'
import { StartError, startClickHouse, startRedis, startS3 } from '../../src/index.ts'
import { inSessionsOf } from '@intake/test-kit/sessions'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'

function redisClient(url: string) {
  return connectRedis({ url, role: 'consumer', onError: () => undefined })
}

t.test('Redis confirms durable writes and still has them after SIGKILL', async (t) => {
  const options = { dataDir: `${createDataDir(t)}/with space`, port: 0, password: 'secret' }
  const first = await startRedis(options)
  t.teardown(() => first.stop())
  const writer = redisClient(first.url)
  await writer.set('key', 'value')
  const config = await writer.config('GET', 'append*', 'maxmemory*', 'bind')
  writer.disconnect()
  const valueOf = (name: string) => config[config.indexOf(name) + 1]
  t.equal(valueOf('appendfsync'), 'always')
  t.equal(valueOf('appendonly'), 'yes')
  t.equal(valueOf('maxmemory-policy'), 'noeviction')
  t.equal(valueOf('maxmemory'), String(512 * 1024 ** 2))
  t.equal(valueOf('bind'), '127.0.0.1')

  process.kill(first.pid, 'SIGKILL')
  t.strictSame(await first.exited, { code: null, signal: 'SIGKILL' })
  await until(
    'none of its processes is left',
    async () => (await inSessionsOf([first.pid])).length === 0,
  )

  const second = await startRedis({ ...options, port: first.port })
  t.teardown(() => second.stop())
  const reader = redisClient(second.url)
  t.equal(await reader.get('key'), 'value')
  reader.disconnect()
})

t.test('a Redis that cannot use its data fails to start with the reason', async (t) => {
  const dataDir = t.testdir({ data: { appendonlydir: { 'appendonly.aof.manifest': 'broken' } } })
  const start = startRedis({ dataDir, port: 0 })
  await t.rejects(start, {
    name: 'StartError',
    message:
      /^Redis ended before it was ready \(exit code 1\)\. Its log .*redis\.log ends with: .+/,
  })
})

t.test('a port in use is reported in one sentence', async (t) => {
  const server = createServer().listen(0, '0.0.0.0')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const message = (name: string) =>
    new StartError(`${name} cannot use port ${port}: another process is using it.`)
  const options = { dataDir: createDataDir(t), port }
  await t.rejects(startRedis(options), message('Redis'))
  await t.rejects(startClickHouse(options), message('ClickHouse'))
  await t.rejects(startS3(options), message('S3'))
})

t.test('ClickHouse', async (t) => {
  const options = { dataDir: `${createDataDir(t)}/with space`, port: 0 }
  const { server: service, owner: admin } = await startWithTables(t, options)

  await t.test('lets analysts read the views with duplicates hidden', async (t) => {
    const response = await ask(service.analystUrl, 'SELECT count() FROM intake.logs')
    t.strictSame(response, { status: 200, text: '0\n' })
    const final = await ask(service.analystUrl, "SELECT getSetting('final')")
    t.equal(final.text, 'true\n')
  })

  await t.test('lets a query of analysts use two threads', async (t) => {
    const sql = 'EXPLAIN PIPELINE SELECT sum(number) FROM numbers_mt(1e8) SETTINGS max_threads = 2'
    t.match((await ask(service.analystUrl, sql)).text, 'AggregatingTransform × 2')
  })

  await t.test('refuses everything else to analysts', async (t) => {
    for (const sql of [
      'INSERT INTO intake.logs_raw (event) VALUES (1)',
      'SELECT * FROM intake.logs_raw',
      'DROP TABLE intake.logs_raw',
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      "SELECT * FROM url('http://127.0.0.1', 'LineAsString')",
      'SELECT * FROM intake.schema_migrations',
      'SELECT 1 SETTINGS readonly = 0',
      'SELECT 1 SETTINGS max_execution_time = 1000',
      'SELECT 1 SETTINGS use_skip_indexes_if_final_exact_mode = 0',
      // These filters may contain a subquery, which would run with the rights of the views' owner.
      "SELECT count() FROM intake.logs SETTINGS additional_table_filters = {'intake.logs_raw': '1'}",
      "SELECT 1 SETTINGS additional_result_filter = '1'",
      "SELECT 1 SETTINGS parallel_replicas_custom_key = '1'",
      'SELECT 1 SETTINGS final = 0',
      'SELECT 1 SETTINGS max_memory_usage_for_user = 0',
      'SELECT 1 SETTINGS max_temporary_data_on_disk_size_for_user = 0',
      'SYSTEM SHUTDOWN',
    ]) {
      const { status, text } = await ask(service.analystUrl, sql)
      t.not(status, 200, sql)
      t.match(text, /ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION/, sql)
    }
  })

  await t.test('lets workers read what they show and send, and nothing else', async (t) => {
    for (const view of ['logs', 'feedback', 'dead_letters', 'outcomes', 'watermark']) {
      const { status } = await ask(service.readerUrl, `SELECT * FROM intake.${view}`)
      t.equal(status, 200, view)
    }
    for (const sql of [
      'SELECT * FROM intake.logs_raw',
      'SELECT * FROM intake.devices',
      'SELECT * FROM intake.installation',
      'SELECT * FROM system.processes',
      'SELECT * FROM system.parts',
      "SELECT * FROM file('/etc/passwd', 'LineAsString')",
      'INSERT INTO intake.logs_raw (event) VALUES (1)',
      'SELECT 1 SETTINGS readonly = 0',
      'SELECT 1 SETTINGS final = 0',
      'SELECT 1 SETTINGS max_memory_usage_for_user = 0',
      'SELECT 1 SETTINGS max_concurrent_queries_for_user = 0',
    ]) {
      const { status, text } = await ask(service.readerUrl, sql)
      t.not(status, 200, sql)
      t.match(text, /ACCESS_DENIED|READONLY|SETTING_CONSTRAINT_VIOLATION/, sql)
    }
  })

  await t.test('refuses a missing user, a wrong password and the default user', async (t) => {
    const { host } = new URL(service.url)
    for (const user of ['', 'intake:wrong@', 'worker:@', 'reader:@', 'analyst:@']) {
      const { status } = await ask(`http://${user}${host}`, 'SELECT 1')
      t.match(String(status), /^40[13]$/, user)
    }
    t.equal((await ask(`http://default@${host}`, 'SELECT 1')).status, 401)

    // ClickHouse itself would use the user or password in a URL parameter instead of the one in the
    // header of basic authentication.
    const basic = (user: string, password: string) => ({
      authorization: `Basic ${btoa(`${user}:${password}`)}`,
    })
    const { username, password } = new URL(service.analystUrl)
    for (const headers of [
      basic('intake', 'wrong'),
      basic('default', ''),
      ...[service.url, service.workerUrl, service.readerUrl, service.analystUrl].map((url) =>
        basic(new URL(url).username, new URL(url).password),
      ),
      { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      { 'x-clickhouse-user': username, ...basic('intake', 'wrong') },
    ]) {
      for (const query of [
        'user=default',
        'us%65r=default',
        'password=x',
        'user=default&user=analyst',
        'user=reader',
      ]) {
        const response = await fetch(`http://${host}/?${query}`, {
          method: 'POST',
          body: 'SELECT currentUser()',
          headers,
        })
        t.match(String(response.status), /^40[13]$/, `${JSON.stringify(headers)} ${query}`)
      }
    }
  })

  await t.test('has a page for queries, whose link logs in the user analyst', async (t) => {
    const page = new URL(service.playUrl ?? '')
    const response = await fetch(page)
    t.equal(response.status, 200)
    t.match(response.headers.get('content-type'), /^text\/html/)
    t.match(await response.text(), /<title>ClickHouse Query</)
    t.equal((await fetch(`${page.origin}/?query`, { method: 'OPTIONS' })).status, 204)
    const terminal = await fetch(`${page.origin}/webterminal`, { method: 'HEAD' })
    t.equal(terminal.status, 404)
    t.notOk(terminal.headers.has('www-authenticate'), 'no login dialog of the browser')

    // The page sends its queries to the URL in the link's parameter `url`.
    const target = page.searchParams.get('url') ?? ''
    const send = (url: string, headers: Record<string, string> = {}) =>
      fetch(url, {
        method: 'POST',
        body: 'SELECT currentUser(), count() FROM intake.logs',
        headers: { authorization: 'never', ...headers },
      })
    const parameters =
      '?add_http_cors_header=1&default_format=TSV&extremes=1&enable_http_compression=1' +
      '&use_query_cache=1&enable_reads_from_query_cache=0&enable_writes_to_query_cache=1&query_cache_ttl=600' +
      '&query_cache_nondeterministic_function_handling=save&query_cache_system_table_handling=ignore'
    for (const more of ['', '&user=default', '&user=intake&password=x', '&us%65r=default']) {
      t.equal(
        await (await send(`${target}${parameters}${more}`)).text(),
        'analyst\t0\n\nanalyst\t0\nanalyst\t0\n',
        more,
      )
    }
    for (const user of ['default', 'intake', 'worker', 'reader']) {
      t.equal((await send(target, { 'x-clickhouse-user': user })).status, 403, user)
    }
  })

  await t.test('lets nobody in beside that link', async (t) => {
    const { origin } = new URL(service.url)
    const { pathname } = new URL(new URL(service.playUrl ?? '').searchParams.get('url') ?? '')
    const paths = ['/', '/play', '/play/', pathname.slice(0, -1), `${pathname}/`, '/dashboard']
    for (const path of paths) {
      for (const user of ['', '?user=default', '?user=analyst', '?user=default&user=analyst']) {
        const response = await fetch(`${origin}${path}${user}`, {
          method: 'POST',
          body: 'SELECT 1',
          headers: { authorization: 'never' },
        })
        t.equal(response.status, 401, path + user)
      }
    }
    for (const path of [...paths, '/play?url=x', '/js/uplot.js']) {
      for (const method of ['GET', 'HEAD']) {
        t.equal((await fetch(`${origin}${path}`, { method })).status, 401, `${method} ${path}`)
      }
    }
    const inquiry = await fetch(`${origin}/?user=default&query=SELECT+1`, { method: 'OPTIONS' })
    t.equal(await inquiry.text(), '')
  })

  await t.test('keeps its data after SIGKILL', async (t) => {
    await admin.command('CREATE TABLE intake.kept (n Int32) ENGINE = MergeTree ORDER BY n')
    await admin.command('INSERT INTO intake.kept VALUES (42)')
    process.kill(service.pid, 'SIGKILL')
    await service.exited
    const again = await startClickHouse(options)
    const client = createClickHouse({ url: again.url })
    t.strictSame(await client.query('SELECT n FROM intake.kept'), [{ n: 42 }])
    await client.close()
    await again.stop()
    const pids = [service.pid, again.pid]
    await until(
      'none of their processes is left',
      async () => (await inSessionsOf(pids)).length === 0,
    )
  })
})

t.test('S3 keeps its buckets over a restart', async (t) => {
  const options = { dataDir: `${createDataDir(t)}/with space`, port: 0, secretKey: 'secret-key' }
  const first = await startS3(options)
  t.teardown(() => first.stop())
  const storeAt = (endpoint: string) =>
    createObjectStore({ endpoint, bucket: 'intake', region: 'us-east-1', timeoutMs: 60_000 })
  const sha256 = createHash('sha256').update('x').digest('hex')
  const object = { key: 'a/b.txt', body: Buffer.from('x'), contentType: 'text/plain', sha256 }

  const store = storeAt(first.url)
  await store.ensureBucket()
  await store.put(object)
  store.close()
  await first.stop()

  const second = await startS3({ ...options, port: first.port })
  t.teardown(() => second.stop())
  const again = storeAt(second.url)
  await again.put(object) // fails permanently when the bucket does not exist
  again.close()
})
