import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

/** Serves HTTP on a free port of loopback until the test ends; resolves to the URL, without a path. */
export async function serve(
  t: Pick<Test, 'teardown'>,
  listener: RequestListener,
): Promise<{ url: string; port: number; closeAllConnections(): void }> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const closeAllConnections = () => server.closeAllConnections()
  return { url: `http://127.0.0.1:${port}`, port, closeAllConnections }
}
