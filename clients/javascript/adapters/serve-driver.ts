import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Driver, InitOptions, SentAttachment } from './driver.ts'

interface Body {
  offsetMs: number
  event: string
  params: unknown
  count: number
  text: string
  email?: string
  attachments?: SentAttachment[]
  timeoutMs: number
}

/**
 * Serves the interface by which the conformance suite drives a sender (docs/conformance.md).
 *
 * @param files the files that pages in a browser load, by path
 */
export async function serveDriver(
  driver: Driver,
  files: ReadonlyMap<string, { type: string; body: string }> = new Map(),
): Promise<{ url: string; close(): Promise<void> }> {
  const operations: Record<string, (body: Body) => unknown> = {
    'GET /': () => ({ name: driver.name, capabilities: driver.capabilities }),
    'GET /state': () => driver.state(),
    'POST /init': (body) => driver.init(body as unknown as InitOptions),
    'POST /clock': ({ offsetMs }) => driver.clock(offsetMs),
    'POST /log': ({ event, params }) => driver.log(event, params),
    'POST /logs': ({ count, event }) => driver.logs(count, event),
    'POST /feedback': (body) => driver.feedback(body.text, body.email, body.attachments ?? []),
    'POST /flush': ({ timeoutMs }) => driver.flush(timeoutMs),
    'POST /opt-out': () => driver.optOut(),
    'POST /opt-in': () => driver.optIn(),
    'POST /kill': () => driver.kill(),
    'POST /page-end': () => driver.pageEnd?.(),
    'POST /clear': () => driver.clear(),
  }
  const server = createServer((request, response) => {
    void (async () => {
      const file = files.get(request.url ?? '')
      if (file !== undefined) {
        response.writeHead(200, { 'content-type': file.type })
        return void response.end(file.body)
      }
      const operation = operations[`${request.method} ${request.url}`]
      const sent = await text(request)
      const respond = (status: number, body: unknown) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify(body))
      }
      if (operation === undefined) return respond(404, { error: 'no such operation' })
      try {
        respond(200, (await operation(JSON.parse(sent || '{}') as Body)) ?? {})
      } catch (error) {
        respond(500, { error: String(error) })
      }
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await driver.close()
    },
  }
}
