import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { openConnection } from '../load/connection.ts'

async function serve(t: Test, onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer(onConnection).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

t.test('no response in time is a failure', async (t) => {
  const port = await serve(t, (socket) => socket.on('error', () => undefined).resume())
  const connection = await openConnection(port, { answerMs: 50 })
  await t.rejects(connection.send(Buffer.from('x')), { message: 'no response within 50 ms' })
})

t.test(
  'between two requests a connection may be idle for longer than a response may take',
  async (t) => {
    const port = await serve(t, (socket) =>
      socket.on('data', () => socket.write('HTTP/1.1 201 x\r\ncontent-length: 0\r\n\r\n')),
    )
    // The timeout is shorter than the pause between the requests. On a busy machine this process
    // may read a response late, so the timeout is not much shorter.
    const connection = await openConnection(port, { answerMs: 2_500 })
    t.teardown(() => connection.close())
    await connection.send(Buffer.from('x'))
    await pause(3_000)
    const response = await connection.send(Buffer.from('x'))
    t.equal(response.status, 201)
  },
)
