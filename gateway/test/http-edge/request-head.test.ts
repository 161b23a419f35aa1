import t from 'tap'
import { exchange, statusLines } from '../raw-client.ts'
import { startGateway } from '../support.ts'

const fields = (count: number) => 'a: 1\r\n'.repeat(count)
const get = (rest: string) => `GET /healthz ${rest}\r\n`
const postWith = (header: string, version = '1.1') =>
  `POST /api/log HTTP/${version}\r\nhost: x\r\n${header}\r\n\r\n`
const noChunks = '0\r\n\r\n'

/** Heads that are malformed. */
const malformed: [what: string, request: string][] = [
  ['no Host', get('HTTP/1.1\r\n')],
  ['an empty Host', get('HTTP/1.1\r\nhost:\r\n')],
  ['an invalid Host', get('HTTP/1.1\r\nhost: a/b\r\n')],
  ['two Hosts', get('HTTP/1.1\r\nhost: a\r\nHost: a\r\n')],
  ['HTTP/0.9', 'GET /healthz\r\n\r\n'],
  ['HTTP/2.0', get('HTTP/2.0\r\nhost: x\r\n')],
  ['HTTP/1.2', get('HTTP/1.2\r\nhost: x\r\n')],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nhost: a:443\r\n\r\n'],
  ['two API keys', postWith('x-api-key: a\r\nx-api-key: b')],
  ['two Content-Lengths', `${postWith('content-length: 2\r\ncontent-length: 2')}{}`],
  [
    'Content-Length with Transfer-Encoding',
    postWith('content-length: 5\r\ntransfer-encoding: chunked') + noChunks,
  ],
  ['a blank behind a name', postWith('transfer-encoding : chunked') + noChunks],
  ['a Content-Length with a sign', `${postWith('content-length: +2')}{}`],
  ...['gzip, chunked', 'identity', 'xchunked', 'chunked, chunked'].map(
    (coding): [string, string] => [
      `Transfer-Encoding ${coding}`,
      postWith(`transfer-encoding: ${coding}`) + noChunks,
    ],
  ),
  ['Transfer-Encoding in HTTP/1.0', postWith('transfer-encoding: chunked', '1.0') + noChunks],
]

const withBody = 'HTTP/1.1\r\nhost: x\r\n'
const cases: [what: string, request: string, status: number, code: string][] = [
  ...malformed.map((one) => [...one, 400, 'malformed_http'] as (typeof cases)[number]),
  ...[100, 2_000].map((count): (typeof cases)[number] => [
    `more than ${count} header fields`,
    get(`HTTP/1.1\r\nhost: x\r\n${fields(count)}`),
    431,
    'headers_too_large',
  ]),
  [
    'a GET with a body at a path that takes POST',
    `GET /api/log ${withBody}content-length: 2\r\n\r\n{}`,
    405,
    'method_not_allowed',
  ],
  [
    'a GET with a chunked body at a path that does not exist',
    `GET /nothing ${withBody}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n${noChunks}`,
    404,
    'not_found',
  ],
  ['an unknown expectation', postWith('expect: 200-maybe'), 417, 'expectation_failed'],
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
      const head = `GET ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n`
      const answer = await exchange(t, gateway, head + body + next)
      t.same(statusLines(answer), [`HTTP/1.1 ${status}`], path)
      t.match(answer, /connection: close/i)
      if (status === 405) t.match(answer, /^allow: POST\r$/im)
    }
  }
})

t.test('a request after one with an invalid head is not served', async (t) => {
  const bytes = get('HTTP/1.1\r\n') + get('HTTP/1.1\r\nhost: x\r\n')
  t.same(statusLines(await exchange(t, await startGateway(t), bytes)), ['HTTP/1.1 400'])
})

t.test('200 for all valid forms of Host, and without one in HTTP/1.0', async (t) => {
  const gateway = await startGateway(t)
  for (const host of ['a', 'a.example:80', '[::1]:3000', '127.0.0.1:', 'my_service']) {
    const request = get(`HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n`)
    t.match(await exchange(t, gateway, request), /^HTTP\/1\.1 200 /, host)
  }
  t.match(await exchange(t, gateway, get('HTTP/1.0\r\n')), /^HTTP\/1\.1 200 /)
})
