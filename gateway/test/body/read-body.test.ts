import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import { headers, listen, logBody, post, sendLog, startGateway } from '../support.ts'
import { batch, send, url } from '../batches.ts'

t.test('gzip on both operations: the same rows', async (t) => {
  const gateway = await startGateway(t)
  const gzip = { ...headers, 'content-encoding': 'X-GZip' }
  for (const [path, body, status] of [
    ['/api/log', logBody({ params: { n: 1 } }), 201],
    [url, batch([{ event: 'screen_view', params: { n: 1 } }]), 207],
  ] as const) {
    const payload = gzipSync(JSON.stringify(body))
    const response = await gateway.app.inject({ method: 'POST', url: path, headers: gzip, payload })
    t.equal(response.statusCode, status)
  }
  const [one, two] = gateway.rows('logs')
  t.match(one, { event: 'screen_view', params: { n: 1 } })
  const { id, time, received_at, request_id } = one ?? {}
  t.same({ ...two, id, time, received_at, request_id }, one)
})

t.test('413 beyond the wire limit and beyond the limit after decompression', async (t) => {
  const { app, frames } = await startGateway(t)
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  const bomb = gzipSync(Buffer.alloc(17 * 1024 * 1024, ' '))
  const random = Buffer.alloc(5 * 1024 * 1024, 'x')
  for (const [path, payload, more] of [
    ['/api/log', gzipSync(Buffer.alloc(1024 * 1024 + 1, ' ')), gzip],
    [url, bomb, gzip],
    [url, random, headers],
  ] as const) {
    const response = await app.inject({ method: 'POST', url: path, headers: more, payload })
    t.match(response.json(), { status: 413, code: 'body_too_large' })
  }
  t.equal(frames.logs.length, 0)
})

t.test(
  '400 for a damaged gzip stream, 415 for another coding, with the accepted ones',
  async (t) => {
    const { app } = await startGateway(t)
    const whole = gzipSync(JSON.stringify(logBody()))
    for (const payload of [whole.subarray(0, -4), Buffer.from('{}'), Buffer.alloc(0)]) {
      const response = await sendLog({ app }, payload, { 'content-encoding': 'gzip' })
      t.match(response.json(), { status: 400, code: 'invalid_encoding' })
    }
    const br = await post({ app }, url, '{}', { 'content-encoding': 'br' })
    t.match(br.json(), { status: 415, code: 'unsupported_encoding' })
    t.equal(br.headers['accept-encoding'], 'gzip')
  },
)

t.test('503 busy when decompressed bytes exceed the budget; they are released later', async (t) => {
  // Logs may use three tenths of the bytes, and one API key two thirds of that: 46 MiB, enough for
  // two of these bodies.
  const gateway = await startGateway(t, {
    env: { BYTES_IN_FLIGHT_MAX: String(232 * 1024 * 1024) },
    holdFrames: true,
  })
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  const unit = randomBytes(10_000).toString('hex')
  const text = Array.from({ length: 700 }, () => unit + randomBytes(1_000).toString('hex')).join('')
  // The second event is too large and is rejected. The first is stored, so that `holdFrames` has a
  // frame to hold.
  const payload = gzipSync(JSON.stringify(batch([{ event: 'e' }, { event: text }])))
  const large = () => gateway.app.inject({ method: 'POST', url, headers: gzip, payload })
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
  const env = { BYTES_IN_FLIGHT_MAX: String(226 * 1024 * 1024) }
  const blank = Buffer.from(randomBytes(64 * 1024).map((byte) => (byte % 2 === 0 ? 0x20 : 0x0a)))
  const payload = gzipSync(JSON.stringify(batch([{ event: 'e' }])) + String(blank).repeat(240))
  const gzip = { ...headers, 'content-encoding': 'gzip' }
  const { app, frames, release } = await startGateway(t, { env, holdFrames: true })
  const port = await listen({ app })
  const open = () => {
    const sent = request({ host: '127.0.0.1', port, path: url, method: 'POST', headers: gzip })
    sent.on('error', () => undefined)
    sent.end(payload)
    return sent
  }
  for (let n = 1; n <= 2; n++) {
    const closed = new Promise((resolve) =>
      app.server.once('connection', (socket) => socket.once('close', resolve)),
    )
    const client = open()
    await until('so many frames are enqueued', () => frames.logs.length >= n)
    client.socket?.resetAndDestroy()
    await closed
  }
  const status = async () => {
    const [response] = (await once(open(), 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode
  }
  t.equal(await status(), 503)
  release()
  t.equal(await status(), 207)
})

t.test('a body of unknown length is charged for arrived bytes, not for its limit', async (t) => {
  // The budget of one key is 226 MiB × 3/10 × 2/3 = 45 MiB, eleven times the largest body.
  const env = {
    BYTES_IN_FLIGHT_MAX: String(226 * 1024 * 1024),
    ATTACHMENT_BYTES_MAX: '1000000',
  }
  const { app, release } = await startGateway(t, { env, holdFrames: true })
  const arrived: IncomingMessage[] = []
  app.server.on('request', (one: IncomingMessage) => one.once('end', () => arrived.push(one)))
  const port = await listen({ app })
  const chunked = { ...headers, 'transfer-encoding': 'chunked' }
  const open = (body: string) => {
    const sent = request({ host: '127.0.0.1', port, path: url, method: 'POST', headers: chunked })
    sent.end(body)
    return sent
  }
  const responseTo = async (sent: ClientRequest) => {
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    return { status: response.statusCode, ...((await json(response)) as { code?: string }) }
  }
  const small = JSON.stringify(batch([{ event: 'e' }]))
  const taken = Array.from({ length: 40 }, () => responseTo(open(small)))
  await until('all have arrived', () => arrived.length >= 40)
  const large = Array.from({ length: 12 }, () => responseTo(open(small.padEnd(4 * 1024 * 1024))))
  t.match(await Promise.race(large), { status: 503, code: 'busy' })
  release()
  const statuses = (await Promise.all(taken)).map(({ status }) => status)
  t.same(new Set(statuses), new Set([207]))
  t.same(new Set((await Promise.all(large)).map(({ status }) => status)), new Set([207, 503]))
})

t.test('a body refused before its end is not awaited: 413, and the connection ends', async (t) => {
  const { app } = await startGateway(t)
  const port = await listen({ app })
  const chunked = { ...headers, 'transfer-encoding': 'chunked' }
  const sent = request({ host: '127.0.0.1', port, path: url, method: 'POST', headers: chunked })
  sent.on('error', () => undefined)
  sent.write(JSON.stringify(batch([{ event: 'e' }])).padEnd(5 * 1024 * 1024))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  t.match(response, { statusCode: 413, headers: { connection: 'close' } })
  t.match(await json(response), { code: 'body_too_large' })
  sent.destroy()
})

t.test('the connection stays open when a complete body is refused', async (t) => {
  const { app } = await startGateway(t)
  const port = await listen({ app })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  const sockets = new Set<Socket>()
  const statusOf = async (body: string) => {
    const options = { host: '127.0.0.1', port, path: url, method: 'POST', agent }
    const sent = request({ ...options, headers: { ...headers, 'transfer-encoding': 'chunked' } })
    sent.on('socket', (socket) => sockets.add(socket))
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    await json(response)
    return response.statusCode
  }
  t.equal(await statusOf('{"not": json'), 400)
  t.equal(await statusOf(JSON.stringify(batch([{ event: 'e' }]))), 207)
  t.equal(sockets.size, 1)
})

t.test(
  '413 for small input that expands: by compression, or by fields repeated in every row',
  async (t) => {
    const gateway = await startGateway(t)
    const gzip = { ...headers, 'content-encoding': 'gzip' }
    for (const [path, document] of [
      [url, `[${'{},'.repeat(1_000_000)}{}]`],
      ['/api/log', JSON.stringify(logBody({ params: { text: 'x'.repeat(500_000) } }))],
    ] as const) {
      const payload = gzipSync(document)
      const bomb = await gateway.app.inject({ method: 'POST', url: path, headers: gzip, payload })
      t.match(bomb.json(), { status: 413, code: 'body_too_large' })
    }
    const logs = Array.from({ length: 500 }, () => ({ event: 'e' }))
    for (const wide of [
      { device: { theme: 'x'.repeat(40_000) } },
      { future: 'x'.repeat(40_000) },
      { future: '語'.repeat(12_000) },
      { log: 'x'.repeat(40_000) },
      { future: Array.from({ length: 130 }, () => 1) },
    ]) {
      const response = await send(gateway, batch(logs, wide))
      t.match(response.json(), { status: 413, code: 'body_too_large' })
    }
    t.equal(gateway.frames.logs.length, 0)
  },
)
