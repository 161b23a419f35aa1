import { once } from 'node:events'
import { connect } from 'node:net'
import type { Test } from 'tap'
import type { FastifyPluginAsync } from 'fastify'
import { startAdminServer } from '../../src/index.ts'

type Options = Partial<Parameters<typeof startAdminServer>[0]>

export const paths = ['/healthz', '/readyz', '/status', '/scaling', '/metrics']

const routes: FastifyPluginAsync = async (app) => {
  for (const path of paths) app.get(path, async () => path)
}

/**
 * Starts an admin server on a free port of loopback. The server closes when the test ends. Resolves
 * to the port.
 */
export async function startAdmin(t: Test, options: Options = {}): Promise<number> {
  const admin = await startAdminServer({
    host: '127.0.0.1',
    port: 0,
    routes,
    ...options,
  })
  t.teardown(() => admin.close())
  return admin.port
}

/** Sends bytes in one write; resolves to what the server sends until it closes the connection. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  socket.on('error', () => {})
  socket.write(bytes)
  await once(socket, 'close')
  return text
}
