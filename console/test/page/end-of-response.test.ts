import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import fastify from 'fastify'
import t from 'tap'
import { cutOffAfter, onceClosed } from '../../src/page/end-of-response.ts'

t.test('a reader who does not read in time is cut off, and its turn ends', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  let end = () => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  app.get('/', async (_request, reply) => {
    onceClosed(reply, end)
    cutOffAfter(10, reply)
    // This body is larger than the buffers of both sockets.
    return reply.send(Buffer.alloc(64 * 1024 * 1024))
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.on('error', () => {})
  socket.pause()
  await once(socket, 'connect')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await ended
})
