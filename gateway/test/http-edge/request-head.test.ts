import t from 'tap'
import { exchange, open, received, statusLines } from '../raw-client.ts'
import { startGateway } from '../support.ts'

const fields = (count: number) => 'a: 1\r\n'.repeat(count)
const cases: [what: string, request: string, status: number, code: string][] = [
  ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n', 400, 'malformed_http'],
  ['an empty Host', 'GET /healthz HTTP/1.1\r\nhost:\r\n\r\n', 400, 'malformed_http'],
  ['an invalid Host', 'GET /healthz HTTP/1.1\r\nhost: a/b\r\n\r\n', 400, 'malformed_http'],
  ['two Hosts', 'GET /healthz HTTP/1.1\r\nhost: a\r\nHost: a\r\n\r\n', 400, 'malformed_http'],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n', 400, 'malformed_http'],
  ['HTTP/2.0', 'GET /healthz HTTP/2.0\r\nhost: x\r\n\r\n', 400, 'malformed_http'],
  ['HTTP/1.2', 'GET /healthz HTTP/1.2\r\nhost: x\r\n\r\n', 400, 'malformed_http'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'malformed_http'],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n', 400, 'malformed_http'],
  [
    'more header fields than the limit',
    `GET /healthz HTTP/1.1\r\nhost: x\r\n${fields(100)}\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'more header fields than Node keeps',
    `GET /healthz HTTP/1.1\r\nhost: x\r\n${fields(2_000)}\r\n`,
    431,
    'headers_too_large',
  ],
  [
    'two API keys',
    'POST /api/log HTTP/1.1\r\nhost: x\r\nx-api-key: a\r\nx-api-key: b\r\n\r\n',
    400,
    'malformed_http',
  ],
  [
    'two Content-Lengths',
    'POST /api/log HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\n{}',
    400,
    'malformed_http',
  ],
  [
    'Content-Length with Transfer-Encoding',
    'POST /api/log HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'malformed_http',
  ],
  [
    'a blank behind the name Transfer-Encoding',
    'POST /api/log HTTP/1.1\r\nhost: x\r\ntransfer-encoding : chunked\r\n\r\n0\r\n\r\n',
    400,
    'malformed_http',
  ],
  [
    'a Content-Length with a sign',
    'POST /api/log HTTP/1.1\r\nhost: x\r\ncontent-length: +2\r\n\r\n{}',
    400,
    'malformed_http',
  ],
  ...['gzip, chunked', 'identity', 'xchunked', 'chunked, chunked'].map(
    (coding): [string, string, number, string] => [
      `Transfer-Encoding ${coding}`,
      `POST /api/log HTTP/1.1\r\nhost: x\r\ntransfer-encoding: ${coding}\r\n\r\n0\r\n\r\n`,
      400,
      'malformed_http',
    ],
  ),
  [
    'Transfer-Encoding in HTTP/1.0',
    'POST /api/log HTTP/1.0\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'malformed_http',
  ],
  [
    'a GET with a body at a path that takes POST',
    'GET /api/log HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}',
    405,
    'method_not_allowed',
  ],
  [
    'a GET with a chunked body at a path that does not exist',
    'GET /nothing HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    404,
    'not_found',
  ],
  [
    'an unknown expectation',
    'POST /api/log HTTP/1.1\r\nhost: x\r\nexpect: 200-maybe\r\n\r\n',
    417,
    'expectation_failed',
  ],
]

for (const [what, request, status, code] of cases) {
  t.test(`${status} for ${what}, as a problem document, and the connection ends`, async (t) => {
    const gateway = await startGateway(t)
    const [head = '', body = ''] = (await exchange(t, gateway, request)).split('\r\n\r\n')
    t.match(
      head,
      new RegExp(`^HTTP/1.1 ${status} [^]*content-type: application/problem\\+json`, 'i'),
    )
    t.match(head, /connection: close/i)
    t.match(head, /^date: /im)
    t.match(JSON.parse(body), { status, code, request_id: String })
    t.match(await gateway.metrics(), `intake_requests_refused_total{code="${code}"} 1`)
  })
}

t.test('a GET with a body gets the response of one without, and nothing follows it', async (t) => {
  const gateway = await startGateway(t)
  const next = 'GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n'
  for (const body of ['{}', next, 'x'.repeat(1_000_000)]) {
    for (const [path, status] of [
      ['/healthz', 200],
      ['/api/log', 405],
    ] as const) {
      const socket = await open(t, gateway)
      const head = `GET ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`
      socket.write(head + body + next)
      const answer = await received(socket)
      t.same(statusLines(answer), [`HTTP/1.1 ${status}`], path)
      t.match(answer, /connection: close/i)
      if (status === 405) t.match(answer, /^allow: POST\r$/im)
    }
  }
})

t.test('a request after one with an invalid head is not served', async (t) => {
  const gateway = await startGateway(t)
  t.same(
    statusLines(
      await exchange(
        t,
        gateway,
        'GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n',
      ),
    ),
    ['HTTP/1.1 400'],
  )
})

t.test('200 for all valid forms of Host, and without one in HTTP/1.0', async (t) => {
  const gateway = await startGateway(t)
  for (const host of ['a', 'a.example:80', '[::1]:3000', '127.0.0.1:', 'my_service']) {
    t.match(
      await exchange(
        t,
        gateway,
        `GET /healthz HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`,
      ),
      /^HTTP\/1\.1 200 /,
      host,
    )
  }
  t.match(await exchange(t, gateway, 'GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /)
})
