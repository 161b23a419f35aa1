import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Stage } from '../scenario.ts'

/** How a request is treated. */
export type Treatment =
  | { is: 'passed' }
  /** The request is not passed on and gets no response. */
  | { is: 'held' }
  /** The request is not passed on, and gets this response. */
  | { is: 'answered'; status: number; headers?: Record<string, string>; body?: string }
  /** The request is passed on. The response is 200, but its header has an exception code. */
  | { is: 'stored'; code: number }
  /** The request is passed on. The response reports fewer written rows than were written. */
  | { is: 'shortened' }
  /** The request is passed on; the response is delayed. */
  | { is: 'delayed'; ms: number }

export interface HttpFake {
  port: number
  /** Sets the treatment of requests from now on. */
  set(treatment: Treatment): void
  /** The number of requests whose treatment was not `passed`. */
  treated(): number
  close(): Promise<void>
}

export const isInsert = ({ url = '' }: IncomingMessage) =>
  /INSERT INTO intake\.(logs|feedback)_raw/.test(decodeURIComponent(url.replaceAll('+', ' ')))

/**
 * Starts a proxy for ClickHouse or S3 that responds as a failing server would.
 *
 * @param options.concerns selects the requests that the fake treats; all others are passed on
 */
export async function startHttpFake(options: {
  target: number
  concerns: (request: IncomingMessage) => boolean
}): Promise<HttpFake> {
  const { target, concerns } = options
  let treatment: Treatment = { is: 'passed' }
  let treated = 0
  const timers = new Set<NodeJS.Timeout>()

  async function handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(incoming)
    const now: Treatment = concerns(incoming) ? treatment : { is: 'passed' }
    if (now.is !== 'passed') treated++
    if (now.is === 'held') return
    if (now.is === 'answered') {
      response.writeHead(now.status, now.headers)
      return void response.end(now.body ?? 'a fake failure')
    }
    const { url, method, headers } = incoming
    const forwarded = request({ host: '127.0.0.1', port: target, path: url, method, headers })
    forwarded.end(body)
    const [reply] = (await once(forwarded, 'response')) as [IncomingMessage]
    const content = await buffer(reply)
    const changed = { ...reply.headers }
    delete changed['transfer-encoding']
    if (now.is === 'stored') changed['x-clickhouse-exception-code'] = String(now.code)
    if (now.is === 'shortened') {
      changed['x-clickhouse-summary'] = '{"written_rows":"1","read_rows":"1"}'
    }
    const send = () => response.writeHead(reply.statusCode ?? 500, changed).end(content)
    if (now.is === 'delayed') timers.add(setTimeout(send, now.ms))
    else send()
  }

  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    treated: () => treated,
    set(next) {
      treatment = next
    },
    async close() {
      for (const timer of timers) clearTimeout(timer)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * Starts a fake of ClickHouse and makes the workers use it. The fake treats inserts of records, and
 * passes all other requests on.
 */
export async function fakeInserts({ cluster, later }: Stage): Promise<HttpFake> {
  const fake = await startHttpFake({ target: cluster.clickhouse.port(), concerns: isInsert })
  later(() => fake.close())
  cluster.network.workerToClickHouse.redirect(fake.port)
  cluster.network.workerToClickHouse.cut()
  return fake
}
