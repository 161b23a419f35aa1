import { once } from 'node:events'
import t, { type Test } from 'tap'
import { until } from '@intake/test-kit/until'
import {
  ask,
  body,
  chunked,
  exchange,
  fastClock,
  formType,
  get,
  json,
  length,
  log,
  open,
  post,
  received,
} from '../raw-client.ts'
import { startGateway, type TestGateway } from '../support.ts'

const chunkedHead = post('/api/log', [json, chunked])
const chunk = `${body.length.toString(16)}\r\n${body}\r\n`

/**
 * Resolves to the status codes, error codes and `connection: close` headers that a client receives
 * until the connection ends.
 */
async function outcome(
  t: Test,
  gateway: TestGateway,
  bytes: string,
  options: { halfClose?: boolean } = {},
): Promise<string> {
  const socket = await open(t, gateway)
  socket.allowHalfOpen = options.halfClose === true
  const response = received(socket)
  if (options.halfClose === true) socket.end(bytes)
  else socket.write(bytes)
  // When the gateway has closed its half (`end`), the client closes its own. Node emits `close`,
  // which `received` waits for, only when both halves are closed.
  socket.once('end', () => socket.destroy())
  const found = (await response).match(/(?<=HTTP\/1\.1 )\d+|connection: close|(?<="code":")\w+/gi)
  return (found ?? []).join(' ').toLowerCase()
}

const old = log.replace('HTTP/1.1', 'HTTP/1.0')
const expecting = log.replace('host: x', 'host: x\r\nexpect: 100-continue')

t.test('201 for an event with more bytes than its Content-Length, then the end', async (t) => {
  const gateway = await startGateway(t)
  for (const bytes of [
    ...[' ', '}', '\0', 'garbage\r\n\r\n', ' '.repeat(1_000_000)].map((rest) => log + rest),
    `${old} `,
    `${old.replace('\r\n', '\r\nconnection: keep-alive\r\n')} `,
  ]) {
    t.equal(await outcome(t, gateway, bytes), '201 connection: close', bytes.slice(-10))
  }
  t.equal(await outcome(t, gateway, `${expecting} `), '100 201 connection: close')
  t.equal(gateway.rows('logs').length, 8)
})

t.test('400 for a length in characters, none, or HTTP/1.0 without one', async (t) => {
  const gateway = await startGateway(t)
  const umlauts = body.replace('screen_view', 'gekauft für ü')
  const characters = post('/api/log', [json, length(umlauts.length)]) + umlauts
  const none = post('/api/log', [json]) + body
  for (const bytes of [characters, none, none.replace('HTTP/1.1', 'HTTP/1.0')]) {
    t.equal(await outcome(t, gateway, bytes), '400 connection: close invalid_json')
  }
  t.equal(gateway.frames.logs.length, 0)
  t.match(await exchange(t, gateway, none), /send Content-Length, in bytes/, 'the true reason')
})

t.test('all requests before broken bytes get their responses, in their order', async (t) => {
  const gateway = await startGateway(t)
  const all = log + get + log.replace('"log"', '"lag"')
  for (const [bytes, expected] of [
    [`${all}\0${log}`, '201 200 400 connection: close invalid_request'],
    [`${log}GET / HTTP/1.1\r\na: ${'a'.repeat(20_000)}`, '201 connection: close'],
    [`${log}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`, '201 connection: close'],
    [`${get.replace('GET', 'HEAD')} `, '200 connection: close'],
  ] as const) {
    t.equal(await outcome(t, gateway, bytes), expected)
  }
  t.equal(gateway.rows('logs').length, 3, 'nothing behind them is executed')
})

t.test('a request whose head does not arrive takes no pending response away', async (t) => {
  const gateway = await startGateway(t, {
    senders: { headersTimeoutMs: 1_000 },
    holdFrames: true,
  })
  const timedOut = once(gateway.app.server, 'clientError')
  const response = outcome(t, gateway, `${log}GET / HT`)
  await timedOut
  gateway.release()
  t.equal(await response, '201 connection: close')
})

t.test('400 for a body with a broken chunk, 201 for bytes behind a chunked body', async (t) => {
  const gateway = await startGateway(t)
  for (const broken of ['zz\r\n', `${chunk}zz\r\n`, `${chunk}0\r\na b\r\n\r\n`]) {
    t.equal(
      await outcome(t, gateway, log + chunkedHead + broken),
      '201 400 connection: close malformed_http',
    )
  }
  const socket = await open(t, gateway)
  const parsed = once(gateway.app.server, 'request')
  socket.write(chunkedHead + chunk)
  const response = received(socket)
  await parsed
  socket.write('zz\r\n')
  t.match(await response, /^HTTP\/1\.1 400 [^]*connection: close[^]*malformed_http/i)
  t.equal(gateway.rows('logs').length, 3, 'none of them is stored')
  t.equal(await outcome(t, gateway, `${chunkedHead}${chunk}0\r\n\r\nzz`), '201 connection: close')
})

t.test('a form with a broken chunk releases its bytes', async (t) => {
  const gateway = await startGateway(t)
  const head = post('/api/feedback', [formType, chunked])
  const part = '--b\r\ncontent-disposition: form-data; name="payload"\r\n\r\n{'
  const bytes = `${head}${part.length.toString(16)}\r\n${part}\r\nzz\r\n`
  t.equal(await outcome(t, gateway, bytes), '400 connection: close malformed_http')
  const held = /^intake_body_bytes_in_flight\{kind="feedback"\} (\d+)$/m
  let bytesHeld: string | undefined
  await until('the bytes are released', () => {
    void gateway.metrics().then((text) => (bytesHeld = held.exec(text)?.[1]))
    return bytesHeld === '0'
  })
})

t.test('bytes that begin no request get no response behind an earlier one', async (t) => {
  const gateway = await startGateway(t)
  for (const [bytes, response] of [
    // A response to this byte would be taken for the response to the client's next request.
    [' ', /^$/],
    ['GET / NOPE\r\n\r\n', /^HTTP\/1\.1 400 [^]*malformed_http/],
  ] as const) {
    const socket = await open(t, gateway)
    t.match(await ask(socket, log, /message/), /^HTTP\/1\.1 201 /)
    t.match(await ask(socket, bytes), response)
  }
})

t.test('a client may close its half of the connection before the response', async (t) => {
  const gateway = await startGateway(t)
  const { length: bytes } = body
  const short = post('/api/log', [json, length(bytes + 1)]) + body
  const half = { halfClose: true }
  t.equal(await outcome(t, gateway, log + log, half), '201 201')
  t.equal(await outcome(t, gateway, `${log} `, half), '201 connection: close')
  t.match(await outcome(t, gateway, `${log}GET /he`, half), /^201(?! 4)/)
  t.equal(await outcome(t, gateway, log + short, half), '201 400 connection: close malformed_http')
  t.match(await gateway.metrics(), 'refused_total{code="malformed_http"} 0', 'it may be gone')
})

t.test('a client that closed its half while it awaited 100 Continue sees the end', async (t) => {
  const gateway = await startGateway(t, { holdFrames: true })
  const taken = once(gateway.app.server, 'connection')
  const response = outcome(t, gateway, expecting, { halfClose: true })
  const [peer] = await taken
  await until('its half is closed', () => peer.readableEnded === true)
  gateway.release()
  t.equal(await response, '100 201')
})

t.test('the responses that broken bytes wait for are limited like all others', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock(), holdFrames: true })
  t.equal(await outcome(t, gateway, `${log} `), '503 connection: close outcome_unknown')
  gateway.release()
})
