import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { loopbackOrigins, parseCorsOrigins } from '@intake/config'
import { isLoopbackHost } from '@intake/runtime'

const host = '127.0.0.1'
const connectionsMax = 200
/** Until the first row of a result, ClickHouse can send a header of progress ten times a second. */
const headBytesMax = 1024 ** 2
const keepAliveMs = 30_000
/** How long the engine may send nothing. This is much longer than analysts' queries can take. */
const silenceMs = 3_600_000

export interface BasicAuthOptions {
  port: number
  enginePort: number
  /** Stops listening and closes all connections. */
  signal: AbortSignal
  /** How long a client may take for the head of a request, in milliseconds. Default: a minute. */
  headMs?: number
}

const loopbackPages = parseCorsOrigins(loopbackOrigins)

/**
 * Makes the embedded ClickHouse accept basic authentication, as other servers do. Forwards every
 * request of this machine (see `isForeign`), and replaces `Authorization: Basic` with `X-ClickHouse-User` and `X-ClickHouse-Key`. The
 * engine itself must not get basic authentication, because `?user=default` in the URL would then
 * win (clickhouse-config.ts). With these headers, it refuses such parameters. A request that
 * already has one of them is forwarded unchanged.
 *
 * Streams in both directions. When a client closes its connection, the connection to the engine is
 * closed too, so that the engine cancels the query. Resolves when clients can connect.
 */
export function acceptBasicAuth(options: BasicAuthOptions): Promise<void> {
  const { port, enginePort, signal, headMs = 60_000 } = options
  const latest = new WeakMap<Socket, ServerResponse>()
  const server = createServer(
    {
      maxHeaderSize: headBytesMax,
      keepAliveTimeout: keepAliveMs,
      // An INSERT may stream for longer than the five minutes that Node gives a request. Without
      // that limit, Node has none for the head either.
      requestTimeout: 0,
      headersTimeout: headMs,
      connectionsCheckingInterval: headMs / 2,
    },
    (incoming, outgoing) => {
      const { socket } = incoming
      const start = () => {
        if (socket.destroyed) return
        if (isForeign(incoming)) refuse(outgoing)
        else forward(enginePort, incoming, outgoing)
      }
      // Node reports all requests of a pipeline at once. The engine gets one after the other.
      const previous = latest.get(socket)
      latest.set(socket, outgoing)
      if (previous === undefined || previous.closed) start()
      else previous.once('close', start)
    },
  )
  server.maxConnections = connectionsMax
  signal.addEventListener('abort', () => server.closeAllConnections(), { once: true })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, host, signal }, resolve)
  })
}

/**
 * Whether a web page that is not on this machine made the request. Checks `Host` too, because a
 * foreign site can make its own name resolve to 127.0.0.1 (DNS rebinding), and older browsers do not
 * send `Sec-Fetch-Site`. Only HTTP/1.0 has no `Host`, and no browser sends that.
 */
function isForeign({ headers: { host: name, origin } }: IncomingMessage): boolean {
  const isKnownOrigin =
    origin === undefined || (typeof loopbackPages === 'object' && loopbackPages.has(origin))
  return !isKnownOrigin || !(name === undefined || isLoopbackHost(name))
}

function refuse(outgoing: ServerResponse) {
  outgoing.writeHead(403, { 'content-type': 'text/plain', connection: 'close' })
  outgoing.end('This port serves pages and names of this machine, such as localhost.\n')
}

function forward(port: number, incoming: IncomingMessage, outgoing: ServerResponse) {
  const { method, url: path, rawHeaders } = incoming
  const credentials = credentialsOf(incoming)
  const headers =
    credentials === undefined
      ? withoutHeaders(rawHeaders, hopByHop)
      : [...withoutHeaders(rawHeaders, [...hopByHop, 'authorization']), ...credentials]
  const upstream = request({
    host,
    port,
    method,
    path,
    headers,
    timeout: silenceMs,
    agent: false,
    maxHeaderSize: headBytesMax,
  })
  upstream.on('response', (response) => {
    const own = withoutHeaders(response.rawHeaders, [...hopByHop, 'transfer-encoding'])
    outgoing.writeHead(response.statusCode ?? 502, own)
    // If the engine breaks off, the client must not take what it got for the whole result.
    pipeline(response, outgoing, () => undefined)
  })
  upstream.on('timeout', () => upstream.destroy())
  upstream.on('error', () => {
    if (outgoing.headersSent) return
    outgoing.writeHead(503, { 'content-type': 'text/plain', connection: 'close' })
    outgoing.end('ClickHouse does not respond. If it has ended, npm start restarts it.\n')
  })
  outgoing.on('close', () => {
    upstream.destroy()
    incoming.resume()
  })
  incoming.pipe(upstream)
}

/**
 * Headers that concern one connection only. `Expect` has been answered by this server. Node throws
 * at `Trailer` without a chunked body.
 */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
]

const withoutHeaders = (raw: readonly string[], names: readonly string[]): string[] =>
  raw.filter((_, index) => !names.includes(raw[index - (index % 2)]!.toLowerCase()))

/** A user without a colon, and a password, in characters that a header can have. */
const userAndPassword = /^([\x21-\x39\x3b-\x7e]+):([\x20-\x7e\x80-\xff]*)$/

/**
 * Returns headers, unless the request has such already, or comes from a page of another site: a
 * browser would add the credentials that a person entered.
 */
function credentialsOf({ headers }: IncomingMessage): string[] | undefined {
  if ('x-clickhouse-user' in headers || 'x-clickhouse-key' in headers) return undefined
  const site = headers['sec-fetch-site'] ?? 'none'
  if (site !== 'none' && site !== 'same-origin') return undefined
  const [, encoded = ''] = /^basic +(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const [, user, password] =
    userAndPassword.exec(Buffer.from(encoded, 'base64').toString('latin1')) ?? []
  if (user === undefined || password === undefined) return undefined
  return ['X-ClickHouse-User', user, 'X-ClickHouse-Key', password]
}
