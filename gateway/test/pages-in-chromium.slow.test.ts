import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer, type AddressInfo, type Server } from 'node:net'
import { chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
import { fastClock } from './raw-client.ts'
import { images, logBody, secret, startGateway, type TestGateway } from './support.ts'

const executablePath = findChromium()
const skip = executablePath === undefined && 'there is no Chromium'

async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Opens a page whose origin is not that of the gateway. */
async function openPage(t: Test): Promise<{ origin: string; page: Page }> {
  const site = createHttpServer((_request, response) => {
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>Shop</title>')
  })
  const origin = await listen(t, site)
  const browser = await chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const page = await browser.newPage()
  await page.goto(origin)
  return { origin, page }
}

async function listenGateway(gateway: TestGateway): Promise<string> {
  await gateway.app.listen({ host: '127.0.0.1', port: 0 })
  return `http://127.0.0.1:${(gateway.app.server.address() as AddressInfo).port}`
}

interface Sent {
  status: number
  code: string | undefined
  retryAfter: string | null
  remaining: string | null
  date: string | null
}

/** Sends a request from the page, and returns what the page can read of the response. */
function post(page: Page, url: string, options: { body: string; key?: string; type?: string }) {
  const { body, key = secret, type = 'application/json' } = options
  return page.evaluate(
    async (sent): Promise<Sent> => {
      const response = await fetch(sent.url, {
        method: 'POST',
        headers: { 'x-api-key': sent.key, 'content-type': sent.type },
        body: sent.body,
      })
      const { code } = (await response.json()) as { code?: string }
      const { headers, status } = response
      return {
        status,
        code,
        retryAfter: headers.get('retry-after'),
        remaining: headers.get('ratelimit-remaining'),
        date: headers.get('date'),
      }
    },
    { url, body, key, type },
  )
}

const log = JSON.stringify(logBody())

t.test(
  'a page of another origin sends a log, a compressed batch and feedback',
  { skip },
  async (t) => {
    const { origin, page } = await openPage(t)
    const gateway = await startGateway(t, {
      env: { CORS_ORIGINS: '*' },
      key: { origins: [origin] },
    })
    const url = await listenGateway(gateway)
    const { status, remaining, date } = await post(page, `${url}/api/log`, { body: log })
    t.equal(status, 201)
    t.ok(Number(remaining) > 0 && date !== null, 'it reads what remains, and the time')
    const { log: _, ...head } = logBody()
    const batch = JSON.stringify({ ...head, logs: [{ event: 'a' }, { event: 'b' }] })
    const picture = images.png.toString('base64')
    const payload = JSON.stringify({ ...head, feedback: { text: 'It broke.' } })
    const statuses = await page.evaluate(
      async (sent) => {
        const zipped = new Blob([sent.batch]).stream().pipeThrough(new CompressionStream('gzip'))
        const batched = await fetch(`${sent.url}/api/log/batch`, {
          method: 'POST',
          headers: {
            'x-api-key': sent.key,
            'content-type': 'application/json',
            'content-encoding': 'gzip',
          },
          body: await new Response(zipped).blob(),
        })
        const bytes = Uint8Array.from(atob(sent.picture), (char) => char.charCodeAt(0))
        const form = new FormData()
        form.append('payload', sent.payload)
        form.append('attachments', new File([bytes], 'shot.png', { type: 'image/png' }))
        const created = await fetch(`${sent.url}/api/feedback`, {
          method: 'POST',
          headers: {
            'x-api-key': sent.key,
            'idempotency-key': 'once',
            prefer: 'handling=lenient',
          },
          body: form,
        })
        return [batched.status, created.status]
      },
      { url, batch, payload, picture, key: secret },
    )
    t.same(statuses, [207, 201])
    t.same(
      gateway.rows('logs').map(({ event }) => event),
      ['screen_view', 'a', 'b'],
    )
    t.match(gateway.rows('feedback'), [{ text: 'It broke.' }])
    t.equal(gateway.objects.size, 1)
    t.match(await gateway.metrics(), /^intake_preflights_total\{result="answered"\} 3$/m)
  },
)

t.test('a page whose tools add header fields to every request sends', { skip }, async (t) => {
  const { page } = await openPage(t)
  const gateway = await startGateway(t, { env: { CORS_ORIGINS: 'http://127.0.0.1:*' } })
  const url = await listenGateway(gateway)
  const tools = { traceparent: '00-1-1-01', 'x-datadog-trace-id': '1', 'x-not-known-yet': '1' }
  const headers = { 'x-api-key': secret, 'content-type': 'application/json', ...tools }
  const status = await page.evaluate(
    async (sent) => (await fetch(sent.url, { ...sent, method: 'POST' })).status,
    { url: `${url}/api/log`, headers, body: log },
  )
  t.equal(status, 201)
})

t.test('a page reads the code of every refusal', { skip }, async (t) => {
  const { page } = await openPage(t)
  const env = { CORS_ORIGINS: '*', BATCH_BODY_BYTES_MAX: '20000', RATE_LIMIT_MAX: '9' }
  const gateway = await startGateway(t, {
    env,
    key: { bundleIdentifiers: ['com.example.app'] },
    clock: fastClock(),
  })
  const url = await listenGateway(gateway)
  const slowUrl = await listen(t, stopInBodies(url))
  const id = '01700000-0000-7000-8000-000000000000'
  const other = JSON.stringify(logBody({}, { bundle_identifier: 'com.example.other' }))
  const cases: [status: number, code: string, send: () => Promise<Sent>][] = [
    [400, 'invalid_json', () => post(page, `${url}/api/log`, { body: '{' })],
    [401, 'unauthorized', () => post(page, `${url}/api/log`, { body: log, key: 'wrong' })],
    [403, 'bundle_not_allowed', () => post(page, `${url}/api/log`, { body: other })],
    [408, 'request_timeout', () => post(page, `${slowUrl}/api/log`, { body: log })],
    [413, 'body_too_large', () => post(page, `${url}/api/log/batch`, { body: ' '.repeat(30_000) })],
    [
      415,
      'unsupported_media_type',
      () => post(page, `${url}/api/log`, { body: log, type: 'text/plain' }),
    ],
    [
      422,
      'id_time_out_of_range',
      () => post(page, `${url}/api/log`, { body: JSON.stringify(logBody({ id })) }),
    ],
    [
      503,
      'queue_full',
      () => {
        gateway.state.memoryUsed = 1
        return post(page, `${url}/api/log`, { body: log })
      },
    ],
  ]
  for (const [status, code, send] of cases) {
    const seen = await send()
    t.match(seen, { status, code }, code)
    if (status === 503) t.ok(Number(seen.retryAfter) > 0, 'and when to try again')
  }
  let limited = await post(page, `${url}/api/log`, { body: log })
  for (let sent = 0; limited.status !== 429 && sent < 9; sent++) {
    limited = await post(page, `${url}/api/log`, { body: log })
  }
  t.match(limited, { status: 429, code: 'rate_limited', remaining: '0' })
  t.ok(Number(limited.retryAfter) > 0)
})

/**
 * Creates a proxy that forwards only the first byte of a POST request's body. It also forwards
 * everything before the body, and all responses.
 */
function stopInBodies(url: string): Server {
  return createServer((client) => {
    const gateway = connect(Number(new URL(url).port), '127.0.0.1')
    for (const socket of [client, gateway]) socket.on('error', () => socket.destroy())
    client.on('close', () => gateway.destroy())
    gateway.on('close', () => client.destroy())
    gateway.pipe(client)
    let text = ''
    client.on('data', (chunk) => {
      const before = text.length
      text += chunk.toString('latin1')
      const begin = text.indexOf('POST ')
      const end = begin < 0 ? -1 : text.indexOf('\r\n\r\n', begin)
      const last = end < 0 ? text.length : end + 5
      gateway.write(Buffer.from(text.slice(before, Math.max(before, last)), 'latin1'))
    })
  })
}

t.test(
  'a page of an origin that the key does not have reads why it is refused',
  { skip },
  async (t) => {
    const { page } = await openPage(t)
    const gateway = await startGateway(t, {
      env: { CORS_ORIGINS: '*' },
      key: { origins: ['https://app.example'] },
    })
    const url = await listenGateway(gateway)
    const refused = await post(page, `${url}/api/log`, { body: log })
    t.match(refused, { status: 403, code: 'origin_not_allowed' })
  },
)

t.test(
  'without CORS_ORIGINS the browser lets no page of another origin send',
  { skip },
  async (t) => {
    const { page } = await openPage(t)
    const gateway = await startGateway(t)
    const url = await listenGateway(gateway)
    await t.rejects(post(page, `${url}/api/log`, { body: log }), /Failed to fetch/)
    t.equal(gateway.frames.logs.length, 0)
  },
)

t.test('the last event of a page that is closed is stored', { skip }, async (t) => {
  const { page } = await openPage(t)
  const gateway = await startGateway(t, { env: { CORS_ORIGINS: '*' } })
  const url = await listenGateway(gateway)
  // This request makes the browser cache the response to its preflight. Otherwise, the last request
  // would need a preflight of its own. If the page ended before the response to that preflight, the
  // browser would drop the request.
  t.match(await post(page, `${url}/api/log`, { body: log }), { status: 201 })
  await page.evaluate(
    (sent) => {
      const own = globalThis as unknown as EventTarget
      own.addEventListener('pagehide', () => {
        void fetch(`${sent.url}/api/log`, {
          method: 'POST',
          keepalive: true,
          headers: { 'x-api-key': sent.key, 'content-type': 'application/json' },
          body: sent.body,
        })
      })
    },
    { url, body: JSON.stringify(logBody({ event: 'last' })), key: secret },
  )
  await page.close()
  await until('it is stored', () => gateway.frames.logs.length === 2)
  t.match(gateway.rows('logs'), [{ event: 'screen_view' }, { event: 'last' }])
})
