import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { systemClock } from '@intake/runtime'
import { open, received } from '@intake/test-kit/raw-client'
import { until } from '@intake/test-kit/until'
import { createConnections, type Connections } from '../src/connections.ts'
import { exchangeOf, ignoreFollowing, whenEnded } from '../src/exchange.ts'

const get = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'

/**
 * Starts a server for at most `max` connections. It records why connections end, and which requests
 * have ended.
 */
function startServer(
  t: Test,
  max: number,
  handle: (connections: Connections, request: IncomingMessage, response: ServerResponse) => void,
) {
  const reasons: string[] = []
  const ended: string[] = []
  const connections = createConnections({
    max,
    onEnd: (reason) => reasons.push(reason),
    onExchangeEnd: ({ request }) => ended.push(request.url ?? ''),
    clock: systemClock,
  })
  const server = createServer((request, response) => handle(connections, request, response))
  server.on('connection', connections.open)
  t.teardown(() => server.close())
  const listen = async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return { connections, reasons, ended, gateway: { app: { server, listen } } }
}

t.test('connections with a key are evicted last, and only when they are idle', async (t) => {
  const responses: ServerResponse[] = []
  const { gateway, reasons } = startServer(t, 2, (connections, request, response) => {
    connections.authenticated(connections.begin(request, response)!.connection, 'key')
    responses.push(response)
  })
  const [first, second] = [await open(t, gateway), await open(t, gateway)]
  first.write(get)
  second.write(get)
  await until('both have a response', () => responses.length === 2)
  t.equal(await received(await open(t, gateway)), '', 'all are busy: the new one is closed')
  for (const response of responses) {
    response.end('done')
    await once(response, 'close')
  }
  const ended = once(first.resume(), 'close')
  await open(t, gateway)
  await ended
  t.same(reasons, ['no_room', 'room_for_another'])
})

t.test('each request ends once, also when its client leaves', async (t) => {
  let begun = 0
  const { gateway, ended } = startServer(t, 2, (connections, request, response) => {
    const exchange = connections.begin(request, response)
    if (exchange !== undefined)
      whenEnded(exchange, response, () => ended.push(`end of ${request.url}`))
    begun++
  })
  const socket = await open(t, gateway)
  const head = 'HTTP/1.1\r\nhost: a\r\n\r\n'
  socket.write(`GET /a ${head}GET /b ${head}`)
  await until('both have begun', () => begun === 2)
  socket.destroy()
  await until('both have ended', () => ended.includes('/a') && ended.includes('/b'))
  // Waits for one turn, because a response emits `close` only after its socket has emitted `close`.
  await new Promise((resolve) => setImmediate(resolve))
  t.same(ended.toSorted(), ['/a', '/b', 'end of /a', 'end of /b'])
})

t.test('a request that fails after its client has gone leaves nothing to evict', async (t) => {
  let gone = false
  const { gateway, reasons, connections } = startServer(t, 1, (all, request, response) => {
    all.authenticated(all.begin(request, response)!.connection, 'key')
    request.socket.once('close', () => {
      gone = exchangeOf(request) === undefined
      ignoreFollowing(request)
    })
  })
  const leaving = await open(t, gateway)
  leaving.end(get)
  leaving.destroy()
  await until('it has gone', () => gone)
  const next = await open(t, gateway)
  next.write(get)
  await until('the next one has begun', () => connections.counts().inFlight === 1)
  t.equal(await received(await open(t, gateway)), '', 'the only place is taken')
  t.same(reasons, ['no_room'])
})
