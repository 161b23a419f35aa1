import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

/**
 * Starts an HTTP server, the front of one ClickHouse server. The front adds what the embedded
 * engine lacks. It executes `ON CLUSTER` on all servers of the cluster. Each shard has one replica,
 * so the front replaces replicated engines by plain ones. It sends an insert to all servers if
 * every server holds the table. It confirms `SYSTEM SYNC REPLICA ON CLUSTER` without reaching a
 * server. It sends all other requests to its ClickHouse server.
 */
export async function startFront(options: { target: string; members: () => readonly string[] }) {
  const { target, members } = options
  const server = createServer({ maxHeaderSize }, (request, response) => {
    void handle(request, response).catch(() => response.destroy())
  })

  async function handle(request: IncomingMessage, response: ServerResponse) {
    const body = await buffer(request)
    const url = new URL(request.url ?? '/', target)
    const sql = url.searchParams.get('query') ?? body.toString()
    // Each shard has a single replica, which is never behind.
    if (sql.startsWith('SYSTEM SYNC REPLICA ON CLUSTER')) return response.end()
    const isForAll = onCluster.test(sql) || heldByAll.test(sql)
    const plain = isForAll ? Buffer.from(toPlain(sql)) : body
    const replies: Response[] = []
    for (const origin of isForAll ? members() : [target]) {
      replies.push(await forward(request, new URL(url.pathname + url.search, origin), plain))
    }
    const reply = replies.find(({ ok }) => !ok) ?? replies[0]!
    const headers = [...reply.headers].filter(([name]) => /^x-clickhouse|^content-type/.test(name))
    response.writeHead(reply.status, Object.fromEntries(headers))
    response.end(Buffer.from(await reply.arrayBuffer()))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/** Parameters are part of the URL. ClickHouse takes URLs of up to 1 MiB. */
const maxHeaderSize = 1_048_576
const onCluster = / ON CLUSTER '\w+'/
const heldByAll =
  /^INSERT INTO intake\.(schema_migrations|installation|erasures|journal|analysts|pseudonym_key|(?:application_)?retention|watermark_raw)\b/

const toPlain = (sql: string) =>
  sql
    .replace(onCluster, '')
    .replace(/ENGINE = Replicated(\w+)\('[^']*', '[^']*'(?:, )?/, 'ENGINE = $1(')

const forwarded = ['x-clickhouse-user', 'x-clickhouse-key', 'content-encoding']
const timeoutMs = 120_000

async function forward(request: IncomingMessage, url: URL, body: Buffer): Promise<Response> {
  const headers = forwarded.flatMap((name) => {
    const value = request.headers[name]
    return typeof value === 'string' ? [[name, value] as [string, string]] : []
  })
  return fetch(url, {
    method: request.method ?? 'POST',
    headers,
    ...(request.method !== 'GET' && { body: new Uint8Array(body) }),
    signal: AbortSignal.timeout(timeoutMs),
  })
}
