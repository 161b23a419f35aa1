import { createHash } from 'node:crypto'
import { createClickHouse } from '@intake/clickhouse'
import { createObjectStore } from '@intake/object-store'
import { connectRedis } from '@intake/redis'
import { once } from 'node:events'
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
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

  await t.test('takes basic authentication, and nobody can be its user default', async (t) => {
    const { origin, port } = new URL(service.url)
    const { username, password } = new URL(service.analystUrl)
    const basic = (credentials: string) => ({ authorization: `Basic ${btoa(credentials)}` })
    const right = basic(`${username}:${password}`)
    const named = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
    const send = async (path: string, headers: OutgoingHttpHeaders) => {
      const target = { host: '127.0.0.1', port, path, headers, method: 'POST' }
      const sent = request(target).end('SELECT currentUser()')
      const [response] = (await once(sent, 'response')) as [IncomingMessage]
      return {
        status: response.statusCode,
        headers: response.headers,
        text: await textOf(response),
      }
    }
    for (const headers of [right, named, { ...right, origin: 'http://localhost:5173' }])
      t.match(await send('/any', headers), { status: 200, text: `${username}\n` })
    t.equal(await (await fetch(`${origin}/ping`)).text(), 'Ok.\n')

    for (const [what, headers] of Object.entries({
      'a wrong password': basic(`${username}:wrong`),
      'no password': basic(`${username}:`),
      'no user': basic(`:${password}`),
      'the user default': basic('default:'),
      'the user default in a header': { 'x-clickhouse-user': 'default' },
      'another user in a header': { ...right, 'x-clickhouse-user': 'default' },
      'an unknown scheme': { authorization: 'never' },
    })) {
      const refused = await send('/', headers)
      t.not(refused.status, 200, what)
      t.match(refused.text, /AUTHENTICATION_FAILED|USER_SESSION_LIMIT_EXCEEDED/, what)
    }
    for (const headers of [right, named, { authorization: 'never' }]) {
      for (const query of [
        'user=default',
        'us%65r=default',
        'user=default&password=',
        'password=x',
      ]) {
        for (const session of ['', '&session_id=x', '&max_sessions_for_user=0']) {
          const { status, text } = await send(`/?${query}${session}`, headers)
          t.not(status, 200, query)
          t.match(text, /^Code: /, query)
        }
      }
    }
    const challenge = await send('/', {})
    t.match(challenge, { status: 401, text: /^Name a user\. / })
    t.match(challenge.headers['www-authenticate'], /^Basic /)
    for (const headers of [
      { host: `rebound.example:${port}` },
      { host: 'localhost.rebound.example' },
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      for (const credentials of [right, named, {}])
        t.match(await send('/', { ...credentials, ...headers }), {
          status: 403,
          text: /^This port/,
        })
    }
    for (const path of ['/play', '/dashboard', '/webterminal', '/js/uplot.js'])
      t.equal((await send(path, {})).status, 403, path)
  })

  await t.test('has a page for queries, whose link logs in the user analyst', async (t) => {
    const page = new URL(service.playUrl ?? '')
    t.match(await (await fetch(page)).text(), /<title>ClickHouse Query</)
    // The page sends its queries with these parameters to the URL in the link.
    const { url = '', ...login } = Object.fromEntries(page.searchParams)
    const sent = new URLSearchParams({ ...login, add_http_cors_header: '1' }).toString()
    const response = await fetch(`${url}/?${sent}`, {
      method: 'POST',
      body: 'SELECT currentUser(), count() FROM intake.logs',
      headers: { authorization: 'never' },
    })
    t.equal(await response.text(), 'analyst\t0\n')
  })

  await t.test('survives the head of a request that is invalid or cut off', async (t) => {
    for (const head of ['G', '\r\n', 'GET / HTTP/1.1\r\ncontent-length: no\r\n\r\n']) {
      const socket = connect({ port: service.port, host: '127.0.0.1' })
      socket.on('error', () => undefined)
      socket.end(head)
      await once(socket.resume(), 'close')
      t.strictSame(await ask(service.analystUrl, 'SELECT 1'), { status: 200, text: '1\n' }, head)
    }
  })

  await t.test('cancels a query whose client has closed the connection', async (t) => {
    const ending = new AbortController()
    const { origin, username, password } = new URL(service.analystUrl)
    const running = async () =>
      (await admin.query("SELECT 1 FROM system.processes WHERE user = 'analyst'")).length
    const sql = 'SELECT sum(sleepEachRow(1)) FROM numbers(100) SETTINGS max_block_size = 1'
    const sent = fetch(`${origin}/?query=${encodeURIComponent(sql)}`, {
      headers: { 'x-clickhouse-user': username, 'x-clickhouse-key': password },
      signal: ending.signal,
    })
    await until('the query runs', async () => (await running()) === 1)
    ending.abort()
    await t.rejects(sent)
    await until('the query has ended', async () => (await running()) === 0)
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
