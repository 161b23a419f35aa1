import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'

interface Listener {
  server: Server
  listen(options: { host: string; port: number }): Promise<unknown>
}

/** Opens a new connection. An error on the connection closes it, and does not fail the test. */
export async function open(t: Test, { app }: { app: Listener }): Promise<Socket> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/**
 * Collects the text that the socket receives. Resolves to this text when the text matches
 * `pattern`, or when the connection has closed.
 */
export function received(socket: Socket, pattern = /$^/): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const onData = (chunk: Buffer) => {
      text += chunk.toString()
      if (pattern.test(text)) finish()
    }
    const finish = () => {
      socket.off('data', onData).off('close', finish)
      resolve(text)
    }
    socket.on('data', onData).once('close', finish)
    if (socket.destroyed) finish()
  })
}
