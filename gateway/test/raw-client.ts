import type { SweepClock } from '@intake/http-edge'
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import { open, received } from '@intake/test-kit/raw-client'
import { logBody, secret, type TestGateway } from './support.ts'

export { open, received }

/**
 * Returns the head of a `POST` with the test's API key.
 *
 * @param more further header lines
 */
export function post(path: string, more: string[] = [], key = secret): string {
  const lines = [`POST ${path} HTTP/1.1`, 'host: x', `x-api-key: ${key}`, ...more, '', '']
  return lines.join('\r\n')
}

export const json = 'content-type: application/json'
export const formType = 'content-type: multipart/form-data; boundary=b'
export const length = (bytes: number) => `content-length: ${bytes}`
export const chunked = 'transfer-encoding: chunked'

/** A log event, the request that sends it, and one to a path that needs no key. */
export const body = JSON.stringify(logBody())
export const log = post('/api/log', [json, length(body.length)]) + body
export const get = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'

/** Sends bytes on a connection of their own, and resolves to all that comes back on it. */
export async function exchange(t: Test, gateway: TestGateway, bytes: string): Promise<string> {
  return ask(await open(t, gateway), bytes)
}

/** Sends bytes on an open connection, and resolves to what comes back until `pattern` matches. */
export function ask(socket: Socket, bytes: string, pattern?: RegExp): Promise<string> {
  socket.write(bytes)
  return received(socket, pattern)
}

/**
 * Writes as fast as the other side reads, perhaps in chunks. The returned function reports the
 * number of bytes written.
 */
export function sendWithoutEnd(socket: Socket, isChunked: boolean): () => number {
  const piece = Buffer.alloc(65_536, 0x20)
  const chunk = isChunked
    ? Buffer.concat([Buffer.from('10000\r\n'), piece, Buffer.from('\r\n')])
    : piece
  const send = () => {
    while (!socket.destroyed && socket.writableLength < 1_000_000) socket.write(chunk)
  }
  socket.on('drain', send)
  send()
  return () => socket.bytesWritten
}

/** The status lines in what a connection has received. */
export const statusLines = (text: string) => text.match(/HTTP\/1\.1 \d+/g)

/**
 * Creates a clock for connection sweeps: there is a sweep every 5 ms, and at each sweep the clock
 * shows one second more.
 */
export function fastClock(): SweepClock {
  let now = 0
  return { now: () => (now += 1_000), intervalMs: 5 }
}
