import { once } from 'node:events'
import { createServer, connect, type AddressInfo } from 'node:net'
import { get } from 'node:http'
import t from 'tap'
import { noForeignListener, startForeignListener } from '@intake/test-kit/foreign-listener'
import { connectOnlyToOwnUser } from '../src/own-ports.mjs'

t.test('a server of the same user is connected to', async (t) => {
  const server = createServer((socket) => socket.pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.teardown(() => server.close())
  connectOnlyToOwnUser(String(port))
  const socket = connect({ host: '127.0.0.1', port })
  socket.write('before it is connected')
  const [data] = (await once(socket, 'data')) as [Buffer]
  t.equal(data.toString(), 'before it is connected')
  socket.destroy()
})

t.test('the same port of another address is not looked at', async (t) => {
  const server = createServer((socket) => socket.end('served'))
  server.listen(0, '127.0.0.2')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  t.teardown(() => server.close())
  connectOnlyToOwnUser(String(port))
  const socket = connect({ host: '127.0.0.2', port })
  const [data] = (await once(socket, 'data')) as [Buffer]
  t.equal(data.toString(), 'served')
  socket.destroy()
})

t.test(
  'a server of another user is sent nothing, by any client',
  { skip: noForeignListener },
  async (t) => {
    const listener = await startForeignListener(t, [0])
    const [port = 0] = listener.ports
    const url = `http://127.0.0.1:${port}/`
    const foreign = /another user of this machine listens on port \d+/
    connectOnlyToOwnUser(String(port))

    const socket = connect({ host: '127.0.0.1', port })
    socket.write('secret')
    t.match(((await once(socket, 'error')) as [Error])[0].message, foreign)

    const request = get(url, { headers: { authorization: 'secret' } })
    t.match(((await once(request, 'error')) as [Error])[0].message, foreign)

    // The `fetch` of Node 20 and 22 connects again and again until it is aborted; that of later
    // versions rejects at once.
    const stop = new AbortController()
    const { signal } = stop
    const failed = fetch(url, { method: 'POST', body: 'secret', signal }).catch(
      (error: Error) => error,
    )
    await listener.untilClosed(3)
    stop.abort()
    const failure = await failed
    t.ok(failure instanceof Error)
    const { name, cause } = failure as Error
    if (name !== 'AbortError') t.match((cause as Error).message, foreign)
    t.equal(listener.received(), '')
  },
)
