import { once } from 'node:events'
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Test } from 'tap'

export interface Received {
  method: string | undefined
  path: string | undefined
  headers: IncomingHttpHeaders
  body: string
}

export interface Response {
  status?: number
  body?: string
  /** If true, the server accepts the request and never responds. */
  silent?: boolean
}

/**
 * Starts an HTTP server on loopback. It responds as `respond` decides, and records the requests.
 *
 * @param tls a key and its certificate; if set, the server speaks HTTPS
 */
export async function startFake(
  t: Test,
  respond: (request: Received) => Response,
  tls?: { key: Buffer; cert: Buffer },
): Promise<{ url: string; port: number; received: Received[] }> {
  const received: Received[] = []
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    void answer(incoming, outgoing)
  }
  const server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener)
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { method, url: path, headers } = incoming
    const request = { method, path, headers, body: await text(incoming) }
    received.push(request)
    const { status = 200, body = '', silent } = respond(request)
    if (!silent) outgoing.writeHead(status).end(body)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, received }
}

const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString()

/**
 * A role's credentials in the form in which the metadata service of an instance or container
 * returns them.
 */
export const roleJson = (accessKey: string, expiration = inAnHour()) =>
  JSON.stringify({
    AccessKeyId: accessKey,
    SecretAccessKey: 'role-secret',
    Token: 'role-token',
    Expiration: expiration,
  })

/** Temporary credentials in the form in which STS returns them. */
export const stsXml = (accessKey: string) => `<AssumeRoleWithWebIdentityResponse
  xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Credentials>
  <AccessKeyId>${accessKey}</AccessKeyId><SecretAccessKey>role-secret</SecretAccessKey>
  <SessionToken>role-token</SessionToken><Expiration>${inAnHour()}</Expiration>
  </Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`
