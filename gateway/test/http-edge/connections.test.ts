import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { setImmediate as immediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { pipelinedMax } from '@intake/http-edge'
import { until } from '@intake/test-kit/until'
import { ask, get, json, length, log, open, post, received, statusLines } from '../raw-client.ts'
import { startGateway } from '../support.ts'

/** Sends a log event, which must be accepted; the connection stays open. */
const accept = async (t: Test, socket: Socket) => t.match(await ask(socket, log, /201 /), /201 /)

t.test('a new connection evicts the oldest one without a key', async (t) => {
  const gateway = await startGateway(t, { env: { CONNECTIONS_MAX: '3' } })
  const withKey = await open(t, gateway)
  const oldest = await open(t, gateway)
  const younger = await open(t, gateway)
  await accept(t, withKey)
  for (const one of [oldest, younger]) t.match(await ask(one, get, /200 /), /200 /)
  const end = once(oldest, 'close')
  const fresh = await open(t, gateway)
  await accept(t, fresh)
  await end
  t.match(await ask(younger, get, /200 /), /200 /)
  await accept(t, withKey)
  t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="room_for_another"} 1')
})

t.test('before a gateway ends, connections close with a response, none without', async (t) => {
  const gateway = await startGateway(t)
  const [early, late] = [await open(t, gateway), await open(t, gateway)]
  early.write(log)
  t.match(await received(early, /201 /), /201 [^]*connection: keep-alive/i)
  gateway.leave()
  // What a client sends behind its last request is not stored, because it gets no response.
  for (const socket of [early, late]) socket.write(log + log)
  const onlyOne = /^HTTP\/1.1 201 (?:(?!HTTP)[^])*connection: close(?:(?!HTTP)[^])*$/i
  for (const socket of [early, late]) t.match(await received(socket), onlyOne)
  t.equal(gateway.rows('logs').length, 3)
})

t.test('what has arrived when a gateway closes is served', async (t) => {
  const gateway = await startGateway(t)
  const idle = await open(t, gateway)
  await accept(t, idle)
  const { port } = gateway.app.server.address() as AddressInfo
  const waiting = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'))
  const sockets = [idle, ...waiting]
  const responses = sockets.map((socket) => {
    socket.on('error', () => undefined).write(log)
    return received(socket)
  })
  const closed = gateway.app.close()
  for (const response of await Promise.all(responses)) t.match(response, /^HTTP\/1\.1 201 /)
  await closed
})

t.test('connections that send nothing, or half a header, are evicted, too', async (t) => {
  const gateway = await startGateway(t, { env: { CONNECTIONS_MAX: '2' } })
  const [silent, slow] = [await open(t, gateway), await open(t, gateway)]
  slow.write('GET /healthz HT')
  const ends = Promise.all([once(silent, 'close'), once(slow, 'close')])
  for (const _ of [1, 2]) await accept(t, await open(t, gateway))
  await ends
})

t.test(
  'a connection that a proxy opens in advance gets no response before a request',
  async (t) => {
    const gateway = await startGateway(t, { senders: { headersTimeoutMs: 1_000 } })
    const timedOut = once(gateway.app.server, 'clientError')
    const socket = await open(t, gateway)
    await timedOut
    await accept(t, socket)
    t.match(await gateway.metrics(), 'intake_requests_refused_total{code="request_timeout"} 0')
  },
)

t.test('a connection with too many pending requests ends after their responses', async (t) => {
  const gateway = await startGateway(t, { holdFrames: true })
  const patient = await open(t, gateway)
  patient.write(log.repeat(pipelinedMax))
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  const greedy = await open(t, gateway)
  greedy.write(log.repeat(pipelinedMax + 1))
  await until('the connection is ending', async () =>
    /reason="pipelined"} 1/.test(await gateway.metrics()),
  )
  gateway.release()
  const responses = await received(patient, new RegExp(`(201 [^]*){${pipelinedMax}}`))
  t.equal(responses.match(/HTTP\/1\.1 201/g)?.length, pipelinedMax)
  const due = await received(greedy)
  t.equal(due.match(/HTTP\/1\.1 201/g)?.length, pipelinedMax, 'what was begun gets its response')
  t.equal(due.match(/connection: close/gi)?.length, 1, 'the last one says that it is the last')
  t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="pipelined"} 1')
})

t.test('a connection with too many requests in one read is closed, pending or not', async (t) => {
  const gateway = await startGateway(t)
  const refused = `${post('/api/log', [json, length(2)], 'wrong')}{}`
  const [patient, greedy] = [await open(t, gateway), await open(t, gateway)]
  const all = await ask(patient, refused.repeat(pipelinedMax - 1) + get, /"ok"/)
  t.equal(all.match(/HTTP\/1\.1 401/g)?.length, pipelinedMax - 1, 'this connection stays open')
  const responses = (await ask(greedy, refused.repeat(500))).match(/HTTP\/1\.1 401/g) ?? []
  t.ok(responses.length <= pipelinedMax, `${responses.length} responses`)
  t.match(await gateway.metrics(), 'intake_connections_ended_total{reason="pipelined"} 1')
})

t.test('a connection with a refused request can be evicted', async (t) => {
  const gateway = await startGateway(t, { env: { CONNECTIONS_MAX: '3' } })
  const { server } = gateway.app
  const taken = new Promise<Socket>((resolve) => server.once('connection', resolve))
  const refused = await open(t, gateway)
  const ended = once(await taken, 'close')
  // This client does not close the connection when the response has ended.
  refused.allowHalfOpen = true
  refused.write(post('/api/log', ['content-type: text/plain', length(300000)]))
  t.match(await received(refused, /"code"/), /connection: close/i, 'now it waits for the client')
  const other = await open(t, gateway)
  await accept(t, other)
  const [third, fourth] = [await open(t, gateway), await open(t, gateway)]
  await ended
  for (const socket of [other, third, fourth]) await accept(t, socket)
})

t.test('the gateway survives a CONNECT whose client resets the connection', async (t) => {
  const gateway = await startGateway(t)
  for (let attempt = 0; attempt < 100; attempt++) {
    const socket = await open(t, gateway)
    const ended = once(socket, 'close')
    socket.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n')
    await immediate()
    socket.resetAndDestroy()
    await ended
  }
  const last = await open(t, gateway)
  t.match(await ask(last, get, /"ok"/), /200/)
})

t.test('CONNECT after a pending request gets no response, and the pending one does', async (t) => {
  const gateway = await startGateway(t, { holdFrames: true })
  const socket = await open(t, gateway)
  socket.write(`${log}CONNECT example.com:443 HTTP/1.1\r\nhost: example.com\r\n\r\n${log}`)
  const response = received(socket)
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  gateway.release()
  t.same(statusLines(await response), ['HTTP/1.1 201'])
  t.equal(gateway.rows('logs').length, 1)
})

t.test('pending requests of a connection release their slots when it ends', async (t) => {
  // One API key may have four of the six slots for requests in flight.
  const gateway = await startGateway(t, { env: { CONNECTIONS_MAX: '6' }, holdFrames: true })
  const closed = new Promise((resolve) =>
    gateway.app.server.once('connection', (socket: Socket) => socket.once('close', resolve)),
  )
  const gone = await open(t, gateway)
  gone.write(log.repeat(4))
  await until('the frame is enqueued', () => gateway.frames.logs.length > 0)
  const other = await open(t, gateway)
  t.match(await ask(other, log, /"code"/), /"busy"/)
  gone.resetAndDestroy()
  await closed
  gateway.release()
  const responses = await ask(other, log.repeat(4), /(HTTP[^]*){4}"message"/)
  t.same(statusLines(responses), Array(4).fill('HTTP/1.1 201'))
})
