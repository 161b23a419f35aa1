import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { freePorts } from '@intake/test-kit/free-ports'
import { ownClickHouse } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { findObstacles } from '../../src/engines/obstacles.ts'
import { acceptBasicAuth } from '../../src/stack/basic-auth.ts'

/** Without confinement there is no user `analyst`. */
const skip = (await findObstacles()).files ?? false

const basic = (credentials: string) => ({
  authorization: `Basic ${Buffer.from(credentials, 'latin1').toString('base64')}`,
})

/** Listens in front of the engine until the test ends. Returns a function that sends requests. */
async function listen(t: Test, enginePort: number, options: { headMs?: number } = {}) {
  const [port = 0] = await freePorts(1)
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  await acceptBasicAuth({ port, enginePort, signal: ending.signal, ...options })
  const send = async (path: string, headers: OutgoingHttpHeaders = {}, body?: string) => {
    const method = body === undefined ? 'GET' : 'POST'
    const sent = request({ host: '127.0.0.1', port, path, headers, method }).end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const { statusCode: status = 0 } = response
    return { status, headers: response.headers, text: await textOf(response) }
  }
  return { port, send, stop: () => ending.abort() }
}

t.test('the engine takes basic authentication, and only the user named', { skip }, async (t) => {
  const engine = await ownClickHouse(t)
  const { send } = await listen(t, engine.port)
  const { username, password } = new URL(engine.analystUrl)
  const right = basic(`${username}:${password}`)
  const sql = 'SELECT currentUser()'

  t.match(await send('/', right, sql), { status: 200, text: 'analyst\n' })
  const owner = new URL(engine.url)
  t.match(await send('/', basic(`intake:${owner.password}`), sql), {
    status: 200,
    text: 'intake\n',
  })
  const named = { 'x-clickhouse-user': username, 'x-clickhouse-key': password }
  t.match(await send('/', named, sql), { status: 200, text: 'analyst\n' })
  t.match(await send('/ping'), { status: 200, text: 'Ok.\n' })

  for (const [what, path, headers] of [
    ['user in the URL', '/?user=default', right],
    ['user and password in the URL', '/?user=default&password=', right],
    ['a wrong password', '/', basic(`${username}:wrong`)],
    ['no password', '/', basic(`${username}:`)],
    ['the user default', '/', basic('default:')],
    ['the user default, padded', '/', basic('default :')],
    ['no user', '/', basic(`:${password}`)],
    ['no colon', '/', basic(username)],
    ['a line break', '/', basic(`${username}:${password}\r\nX-ClickHouse-User: default`)],
    ['a line break in the user', '/', basic(`x\r\nX-ClickHouse-User: default:`)],
    ['another scheme', '/', { authorization: `Bearer ${password}` }],
    ['only a key', '/', { ...right, 'x-clickhouse-key': password }],
    ['another user in the header', '/', { ...right, 'x-clickhouse-user': 'default' }],
    ['both', '/', { ...right, ...named }],
    ['a page of another site', '/', { ...right, 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', '/', { ...right, 'sec-fetch-site': 'same-site' }],
  ] as const) {
    const { status, text } = await send(path, headers, sql)
    t.ok(status === 401 || status === 403, `${what}: ${status}`)
    t.notMatch(text, /^(default|analyst)$/m, what)
  }

  const { status, headers, text } = await send('/?user=analyst&password=x', {}, sql)
  t.equal(status, 401)
  t.match(headers['www-authenticate'], /^Basic /)
  t.match(text, /analyst\. Send user and password by basic authentication, or in the headers/)
})

t.test('403: a foreign web page, or a foreign name of this machine', async (t) => {
  let forwarded = 0
  const engine = createServer({ requireHostHeader: false }, (_, response) => {
    forwarded++
    response.end('result')
  })
  engine.listen(0, '127.0.0.1')
  await once(engine, 'listening')
  t.teardown(() => engine.close())
  const { send, port } = await listen(t, (engine.address() as AddressInfo).port)
  const right = basic('analyst:secret')
  for (const headers of [
    { host: `rebound.example:${port}` },
    { host: `rebound.example:${port}`, 'sec-fetch-site': 'same-origin' },
    { host: 'localhost.rebound.example' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ]) {
    const refused = await send('/?query=SELECT+1', { ...right, ...headers }, '')
    t.match(refused, { status: 403, text: /pages and names of this machine/ })
  }
  t.equal(forwarded, 0)
  for (const headers of [
    { host: `localhost:${port}` },
    { host: `[::1]:${port}`, origin: `http://[::1]:${port}` },
    { origin: 'http://localhost:5173' },
    { origin: `http://127.0.0.1:${port}` },
  ]) {
    t.match(await send('/', { ...right, ...headers }, ''), { status: 200, text: 'result' })
  }
  const old = connect(port, '127.0.0.1')
  old.write('GET / HTTP/1.0\r\n\r\n')
  t.match((await old.toArray()).join(''), /^HTTP\/1\.1 200 /, 'HTTP/1.0 has no Host')
})

t.test('bodies, results and errors pass unchanged, whatever their length', { skip }, async (t) => {
  const engine = await ownClickHouse(t)
  const { send } = await listen(t, engine.port)
  const { username, password } = new URL(engine.analystUrl)
  const headers = basic(`${username}:${password}`)
  const long = `SELECT length('${'x'.repeat(200_000)}')`
  t.equal((await send('/', { ...headers, 'transfer-encoding': 'chunked' }, long)).text, '200000\n')
  t.equal((await send('/', { ...headers, expect: '100-continue' }, 'SELECT 1')).text, '1\n')
  const { text } = await send('/?query=SELECT+number+FROM+numbers(900000)', headers)
  t.equal(text.split('\n').length, 900_001)
  const failed = await send('/', headers, 'SELECT nothing')
  t.equal(failed.status, 404)
  t.equal(failed.headers['x-clickhouse-exception-code'], '47')
})

t.test('a query ends when its client closes the connection', { skip }, async (t) => {
  const engine = await ownClickHouse(t)
  const { send, port } = await listen(t, engine.port)
  const { username, password } = new URL(engine.analystUrl)
  const owner = basic(`intake:${new URL(engine.url).password}`)
  const running = async () =>
    Number(
      (await send('/', owner, "SELECT count() FROM system.processes WHERE user = 'analyst'")).text,
    )

  const client = connect(port, '127.0.0.1')
  const query = 'SELECT+sum(sleepEachRow(1))+FROM+numbers(100)+SETTINGS+max_block_size=1'
  const { authorization } = basic(`${username}:${password}`)
  client.write(
    `GET /?query=${query} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${authorization}\r\n\r\n`,
  )
  await until('the query runs', async () => (await running()) === 1)
  client.destroy()
  await until('the query has ended', async () => (await running()) === 0)
})

t.test('408: a connection on which no whole head arrives does not stay open', async (t) => {
  const [nobody = 0] = await freePorts(1)
  const { port } = await listen(t, nobody, { headMs: 200 })
  for (const begun of ['', 'GET / HTTP/1.1\r\n']) {
    const client = connect(port, '127.0.0.1')
    client.write(begun)
    t.match((await client.toArray()).join(''), /^HTTP\/1\.1 408 /, begun)
  }
})

t.test('503 while the engine is not running; when the stack ends, nothing listens', async (t) => {
  const [nobody = 0] = await freePorts(1)
  const { send, stop } = await listen(t, nobody)
  t.match(await send('/', basic('analyst:x'), 'SELECT 1'), {
    status: 503,
    text: /does not respond/,
  })
  stop()
  await t.rejects(send('/', basic('analyst:x')), { code: 'ECONNREFUSED' })
})
