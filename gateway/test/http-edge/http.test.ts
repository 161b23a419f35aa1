import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { until } from '@intake/test-kit/until'
import { headers, logBody, secret, startGateway, type TestGateway } from '../support.ts'

/** Sends raw bytes and reads until the server closes the connection. */
async function exchange(t: Test, request: string, gateway?: TestGateway): Promise<string> {
  const { app } = gateway ?? (await startGateway(t))
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  await once(socket, 'connect')
  socket.write(request)
  return text(socket)
}

t.test('404 and 405 are problem documents; 405 names the methods', async (t) => {
  const { app } = await startGateway(t)
  const missing = await app.inject({ method: 'POST', url: '/api/nothing', headers })
  t.match(missing.json(), { status: 404, code: 'not_found', request_id: String })
  for (const url of ['/api/log', '/api/nothing']) {
    const odd = await exchange(t, `QUERY ${url} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    t.match(odd, url === '/api/log' ? /^HTTP\/1\.1 405 / : /^HTTP\/1\.1 404 /)
  }
  const wrong = await app.inject({ method: 'GET', url: '/api/log?x=1' })
  t.match(wrong.json(), { status: 405, code: 'method_not_allowed' })
  t.equal(wrong.headers['allow'], 'POST')
})

t.test('400 for a URL that cannot be decoded', async (t) => {
  const { app } = await startGateway(t)
  const response = await app.inject({ method: 'GET', url: '/%zz' })
  t.match(response.json(), { status: 400, code: 'malformed_http' })
})

t.test('400 for non-HTTP bytes, 431 for too large a header, 417 for a wrong Expect', async (t) => {
  t.match(await exchange(t, 'GET / NOPE\r\n\r\n'), /^HTTP\/1\.1 400 [^]*"malformed_http"/)
  const large = `GET / HTTP/1.1\r\nhost: x\r\na: ${'a'.repeat(20_000)}\r\n\r\n`
  t.match(await exchange(t, large), /^HTTP\/1\.1 431 [^]*"headers_too_large"/)
  const odd = 'POST /api/log HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\n\r\n'
  t.match(await exchange(t, odd), /^HTTP\/1\.1 417 [^]*"expectation_failed"/)
})

t.test('a refusal is counted by its code, whichever layer it comes from', async (t) => {
  for (const [request, code] of [
    ['GET / NOPE\r\n\r\n', 'malformed_http'],
    ['POST /api/log HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\n\r\n', 'expectation_failed'],
    ['GET /%zz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'malformed_http'],
    ['GET /no HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n', 'not_found'],
  ] as const) {
    const gateway = await startGateway(t)
    await exchange(t, request, gateway)
    t.match(await gateway.metrics(), `intake_requests_refused_total{code="${code}"} 1`)
  }
})

t.test('a refused upload that waits for 100 Continue never gets it', async (t) => {
  const head = (method: string, path: string, key: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n` +
    `content-length: 2\r\nexpect: 100-continue\r\nx-api-key: ${key}\r\n\r\n`
  // The gateway closes the connection after the response, because it cannot know whether the client
  // will send the body.
  const refused = await exchange(t, head('POST', '/api/log', 'wrong'))
  t.match(refused, /^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)
  t.match(await exchange(t, head('POST', '/api/none', secret)), /^HTTP\/1\.1 404 /)
  t.match(await exchange(t, head('PUT', '/api/log', secret)), /^HTTP\/1\.1 405 /)

  const { app } = await startGateway(t)
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const accepted = `${head('POST', '/api/log', secret)}{}`
  const last = 'GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
  socket.write(accepted + last)
  t.match(
    await text(socket),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 [^]*HTTP\/1\.1 200 /,
    'the connection stays open',
  )
})

t.test('closing completes a pending response and ends its connection', async (t) => {
  const { app, release, frames } = await startGateway(t, { holdFrames: true })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const body = JSON.stringify(logBody())
  socket.write(
    `POST /api/log HTTP/1.1\r\nhost: x\r\nx-api-key: ${secret}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  )
  await until('the frame is enqueued', () => frames.logs.length > 0)
  const closed = app.close()
  release()
  t.match(await text(socket), /^HTTP\/1\.1 201 /)
  await closed
})

t.test('a refusal while the server closes has connection: close', async (t) => {
  const { app, release, frames } = await startGateway(t, { holdFrames: true })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  const send = (key: string, body: string) =>
    socket.write(
      `POST /api/log HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
  send(secret, JSON.stringify(logBody()))
  await until('the frame is enqueued', () => frames.logs.length > 0)
  const closed = app.close()
  await until('it no longer listens', () => !app.server.listening)
  const parsed = once(app.server, 'request')
  send('wrong', '{}')
  await parsed
  release()
  t.match(await text(socket), /^HTTP\/1\.1 201 [^]*HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)
  await closed
})

t.test('a request gets one response, even if its body never ends', async (t) => {
  const gateway = await startGateway(t, { senders: { headersTimeoutMs: 1_000 } })
  const head = `POST /api/log HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n`
  const responses = await exchange(t, `${head}5\r\nabc`, gateway)
  t.same(responses.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401'])
})

t.test('a connection that ends in the middle of a body is not counted as a refusal', async (t) => {
  const gateway = await startGateway(t)
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  const head = `POST /api/log HTTP/1.1\r\nhost: x\r\nx-api-key: ${secret}\r\ncontent-type: application/json\r\n`
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const closed = new Promise((resolve) =>
      gateway.app.server.once('connection', (peer: Socket) => peer.once('close', resolve)),
    )
    const socket = connect((gateway.app.server.address() as AddressInfo).port, '127.0.0.1')
    socket.on('error', () => undefined)
    const begun = once(gateway.app.server, 'request')
    socket.write(`${head}content-length: 100\r\n\r\n{`)
    await begun
    socket[end]()
    await closed
  }
  const metrics = await gateway.metrics()
  t.match(metrics, 'intake_requests_refused_total{code="malformed_http"} 0')
  t.notMatch(gateway.log.join(''), /refused/)
})

t.test('liveness and readiness need no key', async (t) => {
  const { app } = await startGateway(t)
  t.equal((await app.inject('/healthz')).statusCode, 200)
  t.equal((await app.inject('/readyz')).statusCode, 200)
})
