import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'

const cors = { 'access-control-allow-origin': '*', 'access-control-allow-headers': '*' }

/** Starts a server that redirects all requests except preflight requests to a second server. */
export async function startRedirecting(
  t: Test,
  status: number,
): Promise<{
  url: string
  redirected: string[]
  /** The requests that arrived at the second server. */
  followed: string[]
}> {
  const redirected: string[] = []
  const followed: string[] = []
  const target = await listen(t, ({ method, url }, response) => {
    followed.push(`${method} ${url}`)
    response.writeHead(204, cors).end()
  })
  const url = await listen(t, (request, response) => {
    if (request.method === 'OPTIONS') return void response.writeHead(204, cors).end()
    redirected.push(request.url!)
    response.writeHead(status, { ...cors, location: target + request.url }).end()
  })
  return { url, redirected, followed }
}

async function listen(
  t: Test,
  respond: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().once('end', () => respond(request, response))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
