import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { reset } from './kit/reset.ts'

t.test('a connection is closed, whatever is on its way', async (t) => {
  const before: Record<string, (socket: Socket) => unknown> = {
    'nothing sent': () => undefined,
    'a byte sent': (socket) => socket.write('a'),
    'a FIN sent': (socket) => socket.end(),
    'a byte and a FIN sent': (socket) => socket.end('a'),
    'reset already': (socket) => reset(socket),
  }
  const server = createServer((peer) => void peer.on('error', () => undefined).resume())
  t.teardown(() => server.close())
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  for (const [name, act] of Object.entries(before)) {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    await once(socket, 'connect')
    act(socket)
    const closed = once(socket, 'close')
    reset(socket)
    await closed // rejects when an error comes instead
    t.ok(socket.destroyed, name)
  }
})
