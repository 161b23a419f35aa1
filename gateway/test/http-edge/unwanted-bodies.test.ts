import { once } from 'node:events'
import t from 'tap'
import {
  ask,
  body,
  chunked,
  exchange,
  fastClock,
  formType,
  json,
  length,
  open,
  post,
  received,
  sendWithoutEnd,
  statusLines,
} from '../raw-client.ts'
import { startGateway } from '../support.ts'

const endless = 10 ** 12
type Framing = 'length' | typeof chunked
type Refused = [what: string, head: (framing: string) => string, status: number, bytes?: number]
const refused: Refused[] = [
  ['without a valid key', (framing) => post('/api/log', [json, framing], 'wrong'), 401],
  ['to no path', (framing) => post('/api/none', [json, framing]), 404],
  ['with a wrong method', (framing) => post('/healthz', [json, framing]), 405],
  ['of a wrong type', (framing) => post('/api/log', ['content-type: text/csv', framing]), 415, 1e6],
  ['that is too large', (framing) => post('/api/log', [json, framing]), 413],
]

t.test('a refused endless body: the client gets the response, then the end', async (t) => {
  const gateway = await startGateway(t)
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  const send = async ([what, head, status, bytes = endless]: Refused, framing: Framing) => {
    const socket = await open(t, gateway)
    const response = received(socket)
    socket.write(head(framing === 'length' ? `content-length: ${bytes}` : framing))
    const sent = sendWithoutEnd(socket, framing === chunked)
    const expected = new RegExp(`^HTTP/1.1 ${status} [^]*connection: close`, 'i')
    t.match(await response, expected, `${status} for a body ${what}, ${framing}`)
    t.ok(sent() < 32_000_000, `${sent()} bytes were taken`)
  }
  await Promise.all(refused.flatMap((one) => [send(one, 'length'), send(one, chunked)]))
})

t.test(
  'a refused large body: a client that reads only after sending gets the response',
  async (t) => {
    const gateway = await startGateway(t)
    for (const [head, status] of [
      [post('/api/log', [json, length(6e6)], 'wrong'), 401],
      [post('/api/log', [json, length(6e6)]), 413],
    ] as const) {
      const socket = await open(t, gateway)
      const ended = once(socket, 'close')
      await new Promise((sent) => socket.write(head + ' '.repeat(6e6), sent))
      t.match(await received(socket), new RegExp(`^HTTP/1.1 ${status} [^]*"code"`))
      t.same(await ended, [false], 'the connection is not reset')
    }
  },
)

t.test('a refused small body: the client gets the response and may go on', async (t) => {
  const gateway = await startGateway(t)
  const socket = await open(t, gateway)
  const head = post('/api/log', [json, length(200000)], 'wrong')
  socket.write(head)
  t.match(await received(socket, /unauthorized/), /^HTTP\/1\.1 401 /)
  socket.write(Buffer.alloc(200_000))
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  t.match(await received(socket), /^HTTP\/1\.1 200 /)
})

t.test('a refused small body that does not arrive is not awaited', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock() })
  const refusal = await exchange(t, gateway, post('/api/log', [json, length(2000)], 'wrong'))
  t.same(statusLines(refusal), ['HTTP/1.1 401'])
  t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="unwanted"} 1')
})

t.test('a body in tiny chunks is refused, wanted or not, and the connection ends', async (t) => {
  const gateway = await startGateway(t)
  const heads = {
    'an event': [post('/api/log', [json, chunked]), 413],
    'a form': [post('/api/feedback', [formType, chunked]), 413],
    'without a key': [post('/api/log', [json, chunked], 'wrong'), 401],
  } as const
  for (const [what, [head, status]] of Object.entries(heads)) {
    const response = await exchange(t, gateway, head + '1\r\n \r\n'.repeat(100_000))
    t.match(response, new RegExp(`^HTTP/1.1 ${status} `), what)
  }
})

t.test('extensions of chunks and trailers cost no more than a body', async (t) => {
  const gateway = await startGateway(t)
  for (const [status, chunks] of [
    [400, `1;${'a'.repeat(1_000_000)}\r\n \r\n0\r\n\r\n`],
    [400, `${`1;${'a'.repeat(2_000)}\r\n \r\n`.repeat(500)}0\r\n\r\n`],
    [431, `2\r\n{}\r\n0\r\n${'a: b\r\n'.repeat(150_000)}\r\n`],
  ] as const) {
    const sent = post('/api/log', [json, chunked]) + chunks
    t.match(await ask(await open(t, gateway), sent, /\}$/), new RegExp(`^HTTP/1.1 ${status} `))
  }
})

t.test('a body of many small chunks is accepted', async (t) => {
  const socket = await open(t, await startGateway(t))
  const chunks = body.replaceAll(/./g, (character) => `1\r\n${character}\r\n`)
  const blanks = `10\r\n${' '.repeat(16)}\r\n`.repeat(3_000)
  const sent = `${post('/api/log', [json, chunked])}${chunks}${blanks}0\r\n\r\n`
  t.match(await ask(socket, sent, /message/), /^HTTP\/1\.1 201 /)
})
