import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import { headers, listen, logBody, post, sendLog, startGateway } from '../support.ts'
import { batch, copies, send, url } from '../batches.ts'

const gzip = { 'content-encoding': 'gzip' }
const chunked = { 'transfer-encoding': 'chunked' }
const small = JSON.stringify(batch([{ event: 'e' }]))
const mebibytes = (count: number) => ({ BYTES_IN_FLIGHT_MAX: String(count * 1024 * 1024) })

/** Opens a request of a batch to this port. An error on its connection does not fail the test. */
function openBatch(port: number, more: Record<string, string>, agent?: Agent): ClientRequest {
  const to = {
    host: '127.0.0.1',
    port,
    path: url,
    method: 'POST',
    headers: { ...headers, ...more },
  }
  return request({ ...to, ...(agent && { agent }) }).on('error', () => undefined)
}

async function responseTo(sent: ClientRequest) {
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const body = (await json(response)) as { code?: string }
  return { status: response.statusCode, headers: response.headers, ...body }
}

t.test('gzip on both operations: the same rows', async (t) => {
  const gateway = await startGateway(t)
  for (const [path, body, status] of [
    ['/api/log', logBody({ params: { n: 1 } }), 201],
    [url, batch([{ event: 'screen_view', params: { n: 1 } }]), 207],
  ] as const) {
    const payload = gzipSync(JSON.stringify(body))
    const response = await post(gateway, path, payload, { 'content-encoding': 'X-GZip' })
    t.equal(response.statusCode, status)
  }
  const [one, two] = gateway.rows('logs')
  t.match(one, { event: 'screen_view', params: { n: 1 } })
  const { id, time, received_at, request_id } = one ?? {}
  t.same({ ...two, id, time, received_at, request_id }, one)
})

t.test('413 beyond the limit on the wire and the one after decompression', async (t) => {
  const gateway = await startGateway(t)
  const mib = 1024 * 1024
  for (const [path, payload, more] of [
    ['/api/log', gzipSync(Buffer.alloc(mib + 1, ' ')), gzip],
    [
      '/api/log',
      gzipSync(JSON.stringify(logBody({ params: { text: 'x'.repeat(500_000) } }))),
      gzip,
    ],
    [url, gzipSync(Buffer.alloc(17 * mib, ' ')), gzip],
    [url, gzipSync(`[${'{},'.repeat(1_000_000)}{}]`), gzip],
    [url, Buffer.alloc(5 * mib, 'x'), {}],
  ] as const) {
    const response = await post(gateway, path, payload, more)
    t.match(response.json(), { status: 413, code: 'body_too_large' })
  }
  t.equal(gateway.frames.logs.length, 0)
})

t.test('413 for fields that are repeated in every row', async (t) => {
  const gateway = await startGateway(t)
  for (const wide of [
    { device: { theme: 'x'.repeat(40_000) } },
    { future: 'x'.repeat(40_000) },
    { future: '語'.repeat(12_000) },
    { log: 'x'.repeat(40_000) },
    { future: copies(130, 1) },
  ]) {
    const response = await send(gateway, batch(copies(500, { event: 'e' }), wide))
    t.match(response.json(), { status: 413, code: 'body_too_large' })
  }
  t.equal(gateway.frames.logs.length, 0)
})

t.test('400 for a damaged gzip stream, 415 with the accepted codings for another', async (t) => {
  const gateway = await startGateway(t)
  const whole = gzipSync(JSON.stringify(logBody()))
  for (const payload of [whole.subarray(0, -4), Buffer.from('{}'), Buffer.alloc(0)]) {
    const response = await sendLog(gateway, payload, gzip)
    t.match(response.json(), { status: 400, code: 'invalid_encoding' })
  }
  const br = await post(gateway, url, '{}', { 'content-encoding': 'br' })
  t.match(br.json(), { status: 415, code: 'unsupported_encoding' })
  t.equal(br.headers['accept-encoding'], 'gzip')
})

t.test('503 busy when decompressed bytes exceed the budget; they are released later', async (t) => {
  // Logs may use three tenths of the bytes, and one API key two thirds of that: 46 MiB, enough for
  // two of these bodies.
  const gateway = await startGateway(t, { env: mebibytes(232), holdFrames: true })
  const unit = randomBytes(10_000).toString('hex')
  const text = Array.from({ length: 700 }, () => unit + randomBytes(1_000).toString('hex')).join('')
  // The second event is too large and is rejected. The first is stored, so that `holdFrames` has a
  // frame to hold.
  const payload = gzipSync(JSON.stringify(batch([{ event: 'e' }, { event: text }])))
  const large = () => post(gateway, url, payload, gzip)
  // `holdFrames` keeps the accepted requests, and their bytes, until `release`.
  const sent = [large(), large(), large()]
  t.equal((await Promise.race(sent)).statusCode, 503)
  gateway.release()
  const codes = (await Promise.all(sent)).map(({ statusCode }) => statusCode)
  t.same(new Set(codes), new Set([207, 503]))
  t.equal((await large()).statusCode, 207)
})

t.test('503 busy while requests of disconnected clients are still processed', async (t) => {
  // The budget of one key is 226 MiB × 3/10 × 2/3 = 45 MiB. Each body takes 2 MiB compressed and 15
  // MiB decompressed.
  const blank = Buffer.from(randomBytes(64 * 1024).map((byte) => (byte % 2 === 0 ? 0x20 : 0x0a)))
  const payload = gzipSync(small + String(blank).repeat(240))
  const { app, frames, release } = await startGateway(t, { env: mebibytes(226), holdFrames: true })
  const port = await listen({ app })
  const open = () => openBatch(port, gzip).end(payload)
  for (let n = 1; n <= 2; n++) {
    const closed = new Promise((resolve) =>
      app.server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const client = open()
    await until('so many frames are enqueued', () => frames.logs.length >= n)
    client.socket?.resetAndDestroy()
    await closed
  }
  t.equal((await responseTo(open())).status, 503)
  release()
  t.equal((await responseTo(open())).status, 207)
})

t.test('a body of unknown length is charged for arrived bytes, not for its limit', async (t) => {
  // The budget of one key is 226 MiB × 3/10 × 2/3 = 45 MiB, eleven times the largest body.
  const env = { ...mebibytes(226), ATTACHMENT_BYTES_MAX: '1000000' }
  const { app, release } = await startGateway(t, { env, holdFrames: true })
  const arrived: IncomingMessage[] = []
  app.server.on('request', (one: IncomingMessage) => one.once('end', () => arrived.push(one)))
  const port = await listen({ app })
  const sendAll = (count: number, body: string) =>
    Array.from({ length: count }, () => responseTo(openBatch(port, chunked).end(body)))
  const statuses = async (responses: ReturnType<typeof sendAll>) =>
    new Set((await Promise.all(responses)).map(({ status }) => status))
  const taken = sendAll(40, small)
  await until('all have arrived', () => arrived.length >= 40)
  const large = sendAll(12, small.padEnd(4 * 1024 * 1024))
  t.match(await Promise.race(large), { status: 503, code: 'busy' })
  release()
  t.same(await statuses(taken), new Set([207]))
  t.same(await statuses(large), new Set([207, 503]))
})

t.test('a body refused before its end is not awaited: 413, and the connection ends', async (t) => {
  const port = await listen(await startGateway(t))
  const sent = openBatch(port, chunked)
  sent.write(small.padEnd(5 * 1024 * 1024))
  const response = await responseTo(sent)
  t.match(response, { status: 413, code: 'body_too_large', headers: { connection: 'close' } })
  sent.destroy()
})

t.test('the connection stays open when a complete body is refused', async (t) => {
  const port = await listen(await startGateway(t))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const sockets = new Set<Socket>()
  for (const [body, status] of [
    ['{"not": json', 400],
    [small, 207],
  ] as const) {
    const sent = openBatch(port, chunked, agent)
    sent.on('socket', (socket) => sockets.add(socket))
    t.equal((await responseTo(sent.end(body))).status, status)
  }
  t.equal(sockets.size, 1)
})
