import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import {
  body,
  chunked,
  exchange,
  json,
  length,
  log,
  open,
  post,
  received,
  statusLines,
} from '../raw-client.ts'
import { headers, secret, startGateway } from '../support.ts'

const closing = 'host: x\r\nconnection: close\r\n\r\n'

t.test('404 and 405 are problem documents; 405 names the methods', async (t) => {
  const gateway = await startGateway(t)
  const { app } = gateway
  const missing = await app.inject({ method: 'POST', url: '/api/nothing', headers })
  t.match(missing.json(), { status: 404, code: 'not_found', request_id: String })
  for (const [url, status] of [
    ['/api/log', 405],
    ['/api/nothing', 404],
  ] as const) {
    const odd = await exchange(t, gateway, `QUERY ${url} HTTP/1.1\r\n${closing}`)
    t.same(statusLines(odd), [`HTTP/1.1 ${status}`])
  }
  const wrong = await app.inject({ method: 'GET', url: '/api/log?x=1' })
  t.match(wrong.json(), { status: 405, code: 'method_not_allowed' })
  t.equal(wrong.headers['allow'], 'POST')
})

t.test('400 for a URL that cannot be decoded, which is counted', async (t) => {
  const gateway = await startGateway(t)
  const response = await gateway.app.inject({ method: 'GET', url: '/%zz' })
  t.match(response.json(), { status: 400, code: 'malformed_http' })
  t.match(await gateway.metrics(), 'intake_requests_refused_total{code="malformed_http"} 1')
})

t.test('a refused upload that waits for 100 Continue never gets it', async (t) => {
  const gateway = await startGateway(t)
  const head = (path: string, key = secret) =>
    post(path, [json, length(2), 'expect: 100-continue'], key)
  // The gateway closes the connection after the response, because it cannot know whether the client
  // will send the body.
  const refused = await exchange(t, gateway, head('/api/log', 'wrong'))
  t.match(refused, /^HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)
  t.match(await exchange(t, gateway, head('/api/none')), /^HTTP\/1\.1 404 /)
  const put = head('/api/log').replace('POST', 'PUT')
  t.match(await exchange(t, gateway, put), /^HTTP\/1\.1 405 /)
  const accepted = `${head('/api/log')}{}GET /healthz HTTP/1.1\r\n${closing}`
  t.match(
    await exchange(t, gateway, accepted),
    /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 [^]*HTTP\/1\.1 200 /,
    'the connection stays open',
  )
})

t.test('closing completes a pending response and ends its connection', async (t) => {
  const gateway = await startGateway(t, { holdFrames: true })
  const response = exchange(t, gateway, log)
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  const closed = gateway.app.close()
  gateway.release()
  t.match(await response, /^HTTP\/1\.1 201 /)
  await closed
})

t.test('a refusal while the server closes has connection: close', async (t) => {
  const gateway = await startGateway(t, { holdFrames: true })
  const { app } = gateway
  const socket = await open(t, gateway)
  const responses = received(socket)
  socket.write(log)
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  const closed = app.close()
  await until('it no longer listens', () => !app.server.listening)
  const parsed = once(app.server, 'request')
  socket.write(`${post('/api/log', [json, length(2)], 'wrong')}{}`)
  await parsed
  gateway.release()
  t.match(await responses, /^HTTP\/1\.1 201 [^]*HTTP\/1\.1 401 [^]*\r\nconnection: close\r\n/i)
  await closed
})

t.test('a request gets one response, even if its body never ends', async (t) => {
  const gateway = await startGateway(t, { senders: { headersTimeoutMs: 1_000 } })
  const endless = `${post('/api/log', [chunked], 'wrong')}5\r\nabc`
  t.same(statusLines(await exchange(t, gateway, endless)), ['HTTP/1.1 401'])
})

t.test('a connection that ends in the middle of a body is not counted as a refusal', async (t) => {
  const gateway = await startGateway(t)
  const { server } = gateway.app
  for (const end of ['end', 'resetAndDestroy'] as const) {
    const closed = new Promise((resolve) =>
      server.once('connection', (peer: Socket) => peer.once('close', resolve)),
    )
    const socket = await open(t, gateway)
    socket.on('error', () => undefined)
    const begun = once(server, 'request')
    socket.write(`${post('/api/log', [json, length(100)])}${body.slice(0, 1)}`)
    await begun
    socket[end]()
    await closed
  }
  const metrics = await gateway.metrics()
  t.match(metrics, 'intake_requests_refused_total{code="malformed_http"} 0')
  t.notMatch(gateway.log.join(''), /refused/)
})

t.test('liveness and readiness need no key', async (t) => {
  const gateway = await startGateway(t)
  for (const url of ['/healthz', '/readyz']) {
    t.equal((await gateway.app.inject(url)).statusCode, 200)
  }
})
