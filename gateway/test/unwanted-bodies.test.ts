import t from 'tap'
import { fastClock, json, open, post, received } from './raw-client.ts'
import { startGateway } from './support.ts'

const endless = 10 ** 12
const refused: [
  what: string,
  head: (framing: string) => string,
  status: number,
  length?: number,
][] = [
  ['without a valid key', (framing) => post('/api/log', [json, framing], 'wrong'), 401],
  ['to no path', (framing) => post('/api/none', [json, framing]), 404],
  ['with a wrong method', (framing) => post('/healthz', [json, framing]), 405],
  ['of a wrong type', (framing) => post('/api/log', ['content-type: text/csv', framing]), 415, 1e6],
  ['that is too large', (framing) => post('/api/log', [json, framing]), 413],
]

for (const [what, head, status, length = endless] of refused) {
  t.test(`${status} for a body ${what}: read, the end follows soon`, async (t) => {
    const gateway = await startGateway(t)
    for (const framing of [`content-length: ${length}`, 'transfer-encoding: chunked']) {
      const socket = await open(t, gateway)
      const response = received(socket)
      socket.write(head(framing))
      const piece = Buffer.alloc(65_536, 0x20)
      const chunk = framing.startsWith('transfer')
        ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
        : piece
      let sent = 0
      const send = () => {
        while (!socket.destroyed && socket.writableLength < 1_000_000) {
          socket.write(chunk)
          sent += chunk.length
        }
      }
      socket.on('drain', send)
      send()
      t.match(await response, new RegExp(`^HTTP/1.1 ${status} [^]*connection: close`, 'i'))
      t.ok(sent < 32_000_000, `${sent} bytes were taken`)
    }
  })
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
