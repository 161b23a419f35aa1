import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import t, { type Test } from 'tap'
import { systemClock } from '@intake/runtime'
import { open, received } from '@intake/test-kit/raw-client'
import { until } from '@intake/test-kit/until'
import { Connections } from '../src/connections.ts'

const get = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'

/**
 * Starts a server for at most `max` connections. It records why connections end.
 */
function startServer(
  t: Test,
  max: number,
  handle: (connections: Connections, request: IncomingMessage, response: ServerResponse) => void,
) {
  const reasons: string[] = []
  const connections = new Connections({
    max,
    onEnd: (reason) => reasons.push(reason),
    onExchangeEnd: () => {},
    clock: systemClock,
  })
  const server = createServer((request, response) => handle(connections, request, response))
  server.on('connection', (socket) => connections.open(socket))
  t.teardown(() => server.close())
  const listen = async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  return { reasons, gateway: { app: { server, listen } } }
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
