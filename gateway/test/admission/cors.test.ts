import t, { type Test } from 'tap'
import { serve } from '@intake/test-kit/serve'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createApiCors } from '../../src/admission/cors.ts'
import { createAddressLimit } from '../../src/admission/sketch-limits.ts'
import { exchange, fastClock, json, post as headOf } from '../raw-client.ts'
import { headers, logBody, startGateway, type TestGateway } from '../support.ts'

interface Answer {
  statusCode: number
  headers: Record<string, string>
  body: string
}

/** Sends a request over a real connection, because `inject` bypasses the HTTP edge. */
async function ask(
  t: Test,
  gateway: TestGateway,
  request: { method?: string; url: string; headers: object; payload?: string },
): Promise<Answer> {
  const { method = 'POST', url: path, payload = '' } = request
  const length = method === 'POST' ? { 'content-length': Buffer.byteLength(payload) } : {}
  const all = { host: 'x', connection: 'close', ...length, ...request.headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  const text = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${payload}`
  const [head = '', body = ''] = (await exchange(t, gateway, text)).split('\r\n\r\n')
  const [status = '', ...fields] = head.split('\r\n')
  const received = fields.map((line) => line.split(/: (.*)/))
  return {
    statusCode: Number(status.split(' ')[1]),
    headers: Object.fromEntries(
      received.map(([name = '', value = '']) => [name.toLowerCase(), value]),
    ),
    body,
  }
}

const origin = 'https://app.example'
const allow = 'access-control-allow-origin'
const expose = 'access-control-expose-headers'
const url = '/api/log'
const on = { CORS_ORIGINS: '*' }

const preflight = (t: Test, gateway: TestGateway, path = url, more: object = {}) =>
  ask(t, gateway, {
    method: 'OPTIONS',
    url: path,
    headers: { origin, 'access-control-request-method': 'POST', ...more },
  })

const send = (t: Test, gateway: TestGateway, changes: object = {}, payload = log, path = url) =>
  ask(t, gateway, { url: path, headers: { ...headers, ...changes }, payload })

const log = JSON.stringify(logBody())
const codeOf = ({ body }: Answer) => (JSON.parse(body) as { code: string }).code

t.test('204: a preflight gets the same response for every path, origin and key', async (t) => {
  const gateway = await startGateway(t, { env: on, keysLoaded: false })
  for (const path of ['/api/log', '/api/log/batch', '/api/feedback', '/api/nothing']) {
    const response = await preflight(t, gateway, path, { origin: `https://${path.length}.example` })
    t.equal(response.statusCode, 204, path)
    t.equal(response.body, '')
    t.match(response.headers, {
      [allow]: '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers':
        /^x-api-key, content-type, content-encoding, idempotency-key, prefer, /,
      'access-control-max-age': '86400',
    })
    t.notOk('vary' in response.headers)
  }
  t.match(await gateway.metrics(), /^intake_preflights_total\{result="answered"\} 4$/m)
  t.same(gateway.outcomes.unreported(), [], 'no record was refused')
})

t.test('a preflight allows the header fields that tools for tracing add to requests', async (t) => {
  const gateway = await startGateway(t, { env: on })
  const { headers: granted } = await preflight(t, gateway)
  const allowed = granted['access-control-allow-headers']?.split(', ')
  for (const field of [
    'traceparent tracestate baggage sentry-trace newrelic x-requested-with b3 uber-trace-id',
    'x-datadog-trace-id x-datadog-parent-id x-datadog-sampling-priority x-datadog-origin',
    'x-datadog-tags x-b3-traceid x-b3-spanid x-b3-parentspanid x-b3-sampled x-b3-flags',
    'x-amzn-trace-id request-id request-context *',
  ].flatMap((names) => names.split(' '))) {
    t.ok(allowed?.includes(field), field)
  }
})

t.test('405: a refused preflight is counted as one, and says what to set', async (t) => {
  const gateway = await startGateway(t)
  const refused = await preflight(t, gateway)
  t.match(refused, { statusCode: 405, headers: { allow: 'POST' } })
  t.match(JSON.parse(refused.body), {
    code: 'preflight_refused',
    detail: 'Web pages of other origins may not send: CORS_ORIGINS is not set.',
  })
  t.match(gateway.outcomes.unreported(), [
    { apiKeyId: '', kind: 'logs', code: 'preflight_refused', records: 1 },
  ])
  const plain = await ask(t, gateway, { method: 'OPTIONS', url, headers: {} })
  t.equal(codeOf(plain), 'method_not_allowed', 'not a preflight')
  t.equal(codeOf(await preflight(t, gateway, '/docs')), 'method_not_allowed', 'takes no records')
  t.equal(codeOf(await preflight(t, gateway, '/api/logs')), 'not_found')
})

t.test('405: without CORS_ORIGINS nothing is as much as mentioned', async (t) => {
  const gateway = await startGateway(t)
  const refused = await preflight(t, gateway)
  t.equal(refused.statusCode, 405)
  const plain = await send(t, gateway)
  const fromPage = await send(t, gateway, { origin })
  t.equal(fromPage.statusCode, 201)
  t.same(Object.keys(fromPage.headers), Object.keys(plain.headers))
  for (const response of [refused, plain]) {
    t.notMatch(JSON.stringify(response.headers), /access-control/i)
  }
  const broken = await exchange(t, gateway, 'POST /api/log HTTP/1.1\r\n\r\n')
  t.notMatch(broken, /access-control/i)
})

t.test('405: what has a body is no preflight', async (t) => {
  const gateway = await startGateway(t, { env: on })
  const head = 'OPTIONS /api/log HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n'
  t.match(await exchange(t, gateway, `${head}{`), /^HTTP\/1\.1 405 /)
})

t.test('429: an address gets so many preflights; another one is not affected', async (t) => {
  const results: string[] = []
  const addresses = createAddressLimit({
    addressOf: ({ headers: sent }) => String(sent['x-address']),
    max: 3,
    clock: createTestClock(),
  })
  const onPreflight = (result: string) => results.push(result)
  const cors = createApiCors({ allowed: '*', addresses, onPreflight })
  const { port } = await serve(
    t,
    cors!.wrap(() => t.fail('it is no preflight')),
  )
  const from = (address: string) =>
    fetch(`http://127.0.0.1:${port}/api/log`, {
      method: 'OPTIONS',
      headers: { 'x-address': address },
    })
  for (const _ of [1, 2, 3]) t.equal((await from('one')).status, 204)
  const refused = await from('one')
  t.equal(refused.status, 429)
  t.match(Object.fromEntries(refused.headers), { connection: 'close', 'retry-after': '60' })
  t.equal((await from('another')).status, 204)
  t.same(results, ['answered', 'answered', 'answered', 'limited', 'answered'])
})

t.test('a page can read every response of the interface', async (t) => {
  const gateway = await startGateway(t, {
    env: { ...on, RATE_LIMIT_MAX: '9' },
    key: { bundleIdentifiers: ['com.example.app'] },
  })
  const post = (changes: object, payload = log, path = url) =>
    send(t, gateway, { origin, ...changes }, payload, path)
  const other = JSON.stringify(logBody({}, { bundle_identifier: 'com.example.other' }))
  const old = JSON.stringify(logBody({ id: '01700000-0000-7000-8000-000000000000' }))
  const responses = [
    [201, await post({})],
    [400, await post({}, '{')],
    [401, await post({ 'x-api-key': 'wrong' })],
    [403, await post({}, other)],
    [404, await post({}, '{}', '/api/nothing')],
    [400, await post({}, '{}', '/api/%')],
    [413, await post({ 'content-length': '2000000' })],
    [415, await post({ 'content-type': 'text/plain' })],
    [422, await post({}, old)],
  ] as const
  for (const [status, response] of responses) {
    t.equal(response.statusCode, status, response.body)
    t.equal(response.headers[allow], '*', `${status}`)
    t.equal(
      response.headers[expose],
      'Retry-After, Date, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset',
    )
  }
  gateway.state.memoryUsed = 1
  const full = await post({})
  t.match(full, { statusCode: 503, headers: { [allow]: '*', 'retry-after': String } })
  gateway.state.memoryUsed = 0
  let limited = await post({}, '{')
  for (let sent = 0; limited.statusCode !== 429 && sent < 9; sent++) limited = await post({}, '{')
  t.match(limited, { statusCode: 429, headers: { [allow]: '*', 'ratelimit-remaining': '0' } })
  const ready = await ask(t, gateway, { method: 'GET', url: '/readyz', headers: {} })
  t.notOk(allow in ready.headers, 'only those of the interface')
})

t.test('a page can read what the edge and the parser refuse', async (t) => {
  const gateway = await startGateway(t, { env: on, clock: fastClock() })
  const cases: [what: string, request: string, status: number][] = [
    ['a slow body', headOf(url, [json, `origin: ${origin}`, 'content-length: 100000']), 408],
    ['a broken head', 'POST /api/log HTTP/1.1\r\nbroken\r\n\r\n', 400],
    ['a head that is too large', headOf(url, [`a: ${'b'.repeat(20_000)}`]), 431],
    ['too many fields', headOf(url, Array(101).fill('a: 1')), 431],
    ['two keys', headOf(url, ['x-api-key: b']), 400],
    ['an expectation', headOf(url, ['expect: miracles']), 417],
  ]
  for (const [what, request, status] of cases) {
    const text = await exchange(t, gateway, request)
    t.match(text, new RegExp(`^HTTP/1\\.1 ${status} `), what)
    t.match(text, /^access-control-allow-origin: \*\r$/im, what)
    t.match(text, /^access-control-expose-headers: Retry-After, Date, /im, what)
  }
})

t.test('403: a key that has origins is for the pages of these only', async (t) => {
  const gateway = await startGateway(t, { env: on, key: { origins: [origin] } })
  t.equal((await send(t, gateway, { origin })).statusCode, 201)
  for (const wrong of ['https://evil.example', 'null', `${origin}:8443`, 'http://app.example']) {
    const refused = await send(t, gateway, { origin: wrong })
    t.same([refused.statusCode, codeOf(refused)], [403, 'origin_not_allowed'], wrong)
    t.equal(refused.headers[allow], '*', 'the page can read why')
  }
  t.equal((await send(t, gateway)).statusCode, 403, 'what is no page has another key')
  const wrongKey = { origin: 'https://evil.example', 'x-api-key': 'wrong' }
  const unknown = await send(t, gateway, wrongKey)
  t.equal(unknown.statusCode, 401, 'nobody without a key learns of the origins')
  t.equal(gateway.frames.logs.length, 1)
})

t.test('403: a list in CORS_ORIGINS concerns pages, of every key', async (t) => {
  const env = { CORS_ORIGINS: `${origin}, capacitor://localhost` }
  const gateway = await startGateway(t, { env })
  // An app has no origin.
  for (const more of [{ origin }, { origin: 'capacitor://localhost' }, {}]) {
    t.equal((await send(t, gateway, more)).statusCode, 201)
  }
  const refused = await send(t, gateway, { origin: 'https://evil.example' })
  t.equal(codeOf(refused), 'origin_not_allowed')
  t.equal((await preflight(t, gateway)).headers[allow], '*', 'so that a page can read the refusal')
})
