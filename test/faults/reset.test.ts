import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import { reset } from '@intake/test-kit/reset'

const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

/** Returns both ends of a new connection. */
async function open(): Promise<{ socket: Socket; peer: Socket }> {
  const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
  const [[peer]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [
    [Socket],
    unknown,
  ]
  return { socket, peer: peer.on('error', () => undefined).resume() }
}

t.test('the peer sees that the connection was reset', async (t) => {
  const { socket, peer } = await open()
  const closed = once(peer, 'close')
  reset(socket)
  await t.rejects(closed, { code: 'ECONNRESET' })
})

t.test('a connection closes in every state', async (t) => {
  const before: Record<string, (socket: Socket) => unknown> = {
    'a byte': (socket) => socket.write('a'),
    'a FIN': (socket) => socket.end(),
    'a FIN that has arrived': (socket) => once(socket.end(), 'finish'),
    'a byte and a FIN': (socket) => socket.end('a'),
    'a reset': (socket) => reset(socket),
  }
  for (const [name, act] of Object.entries(before)) {
    const { socket, peer } = await open()
    const closed = once(socket, 'close')
    await act(socket)
    reset(socket)
    await closed // rejects on an error
    peer.destroy()
    t.ok(socket.destroyed, name)
  }
})
