import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { SweepClock } from '../src/edge/sweep.ts'
import { secret } from './support.ts'

interface Listener {
  server: Server
  listen(options: { host: string; port: number }): Promise<unknown>
}

/** Opens a new connection. Its errors are ignored; it then just ends. */
export async function open(t: Test, { app }: { app: Listener }): Promise<Socket> {
  if (!app.server.listening) await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** Resolves with the received text, at the first match or at the end of the connection. */
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

/** The head of a `POST` with the test key; `more` are further header lines. */
export function post(path: string, more: string[] = [], key = secret): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${key}`, ...more, '', '']
  return lines.join('\r\n')
}

export const json = 'content-type: application/json'

/** A sweep every 5 ms, at each of which one second has passed. */
export function fastClock(): SweepClock {
  let now = 0
  return { now: () => (now += 1_000), intervalMs: 5 }
}
