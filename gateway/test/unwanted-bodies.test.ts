import type { Socket } from 'node:net'
import t from 'tap'
import { fastClock, json, open, post, received } from './raw-client.ts'
import { startGateway } from './support.ts'

const endless = 10 ** 12
type Framing = 'length' | 'transfer-encoding: chunked'
type Refused = [what: string, head: (framing: string) => string, status: number, length?: number]
const refused: Refused[] = [
  ['without a valid key', (framing) => post('/api/log', [json, framing], 'wrong'), 401],
  ['to no path', (framing) => post('/api/none', [json, framing]), 404],
  ['with a wrong method', (framing) => post('/healthz', [json, framing]), 405],
  ['of a wrong type', (framing) => post('/api/log', ['content-type: text/csv', framing]), 415, 1e6],
  ['that is too large', (framing) => post('/api/log', [json, framing]), 413],
]

t.test('a refused body without end: the response is read, the end follows soon', async (t) => {
  const gateway = await startGateway(t)
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  const send = async ([what, head, status, length = endless]: Refused, framing: Framing) => {
    const socket = await open(t, gateway)
    const response = received(socket)
    socket.write(head(framing === 'length' ? `content-length: ${length}` : framing))
    const sent = sendWithoutEnd(socket, framing)
    const expected = new RegExp(`^HTTP/1.1 ${status} [^]*connection: close`, 'i')
    t.match(await response, expected, `${status} for a body ${what}, ${framing}`)
    t.ok(sent() < 32_000_000, `${sent()} bytes were taken`)
  }
  await Promise.all(
    refused.flatMap((one) => [send(one, 'length'), send(one, 'transfer-encoding: chunked')]),
  )
})

/** Writes as fast as the other side takes it, and tells how much that was. */
function sendWithoutEnd(socket: Socket, framing: Framing): () => number {
  const piece = Buffer.alloc(65_536, 0x20)
  const chunk =
    framing === 'length'
      ? piece
      : Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
  const send = () => {
    while (!socket.destroyed && socket.writableLength < 1_000_000) socket.write(chunk)
  }
  socket.on('drain', send)
  send()
  return () => socket.bytesWritten
}

t.test('the response to a refused small body is read, and the connection stays', async (t) => {
  const gateway = await startGateway(t)
  const socket = await open(t, gateway)
  const head = post('/api/log', [json, 'content-length: 200000'], 'wrong')
  socket.write(head)
  t.match(await received(socket, /unauthorized/), /^HTTP\/1\.1 401 /)
  socket.write(Buffer.alloc(200_000))
  socket.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  t.match(await received(socket), /^HTTP\/1\.1 200 /)
})

t.test('a refused small body that does not come is not waited for', async (t) => {
  const gateway = await startGateway(t, { clock: fastClock() })
  const socket = await open(t, gateway)
  socket.write(post('/api/log', [json, 'content-length: 2000'], 'wrong'))
  t.same((await received(socket)).match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 401'])
  t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="unwanted"} 1')
})
