import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { chromium, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
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
  remaining: string | null
  date: string | null
}

/** Sends a request from the page, and returns what the page can read of the response. */
function post(page: Page, url: string, body: string) {
  return page.evaluate(
    async (sent): Promise<Sent> => {
      const response = await fetch(sent.url, {
        method: 'POST',
        headers: { 'x-api-key': sent.key, 'content-type': 'application/json' },
        body: sent.body,
      })
      const { headers, status } = response
      return {
        status,
        remaining: headers.get('ratelimit-remaining'),
        date: headers.get('date'),
      }
    },
    { url, body, key: secret },
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
    const { status, remaining, date } = await post(page, `${url}/api/log`, log)
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

t.test(
  'without CORS_ORIGINS the browser lets no page of another origin send',
  { skip },
  async (t) => {
    const { page } = await openPage(t)
    const gateway = await startGateway(t)
    const url = await listenGateway(gateway)
    await t.rejects(post(page, `${url}/api/log`, log), /Failed to fetch/)
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
  t.match(await post(page, `${url}/api/log`, log), { status: 201 })
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
