import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { chromium, type Browser, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack, type RunningStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import { hostileTexts } from '../packages/page/test/hostile-records.ts'

const executablePath = findChromium()
const minuteMs = 60_000
const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'
const images = ['photo.jpg', 'screenshot.png', 'crash.webp', 'steps.gif'].map((name) => ({
  name,
  bytes: readFileSync(new URL(`images/${name}`, import.meta.url)),
}))

/** A sender. All of its texts that reach the page are `hostile`. */
const senderOf = (hostile: string) => ({
  bundle_identifier: hostile,
  device: { os: hostile, device_model: hostile, version_name: hostile, [hostile]: hostile },
  device_uuid: device,
  unique_user_id: hostile,
})

async function post(stack: RunningStack, path: string, body: string | FormData): Promise<string> {
  const { gateway, apiKey } = stack.endpoints
  const response = await fetch(gateway + path, {
    method: 'POST',
    headers: {
      'x-api-key': apiKey,
      ...(typeof body === 'string' && { 'content-type': 'application/json' }),
    },
    body,
  })
  if (response.status !== 201)
    throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return ((await response.json()) as { id: string }).id
}

async function sendFeedback(stack: RunningStack, hostile: string): Promise<string> {
  const form = new FormData()
  const feedback = {
    text: hostile,
    email: 'user@example.com',
    id: randomUUID(),
    [hostile]: hostile,
  }
  form.append('payload', JSON.stringify({ ...senderOf(hostile), feedback }))
  for (const { name, bytes } of images) form.append('attachments', new Blob([bytes]), name)
  return post(stack, '/api/feedback', form)
}

async function sendEvent(stack: RunningStack, hostile: string): Promise<string> {
  const log = { event: hostile, params: { [hostile]: hostile, list: [hostile] } }
  return post(stack, '/api/log', JSON.stringify({ ...senderOf(hostile), log }))
}

/** Collects the ids of the feedback for which a webhook is called. */
async function startReceiver(t: Test) {
  const ids: string[] = []
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    ids.push((JSON.parse(await text(request)) as { data: { id: string } }).data.id)
    response.writeHead(204).end()
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, ids }
}

/** Opens a tab that records everything that a script, a form or a foreign address could do. */
async function openTab(t: Test, browser: Browser, options: { origin: string; width: number }) {
  const { origin, width } = options
  const context = await browser.newContext({ viewport: { width, height: 800 } })
  t.teardown(() => context.close())
  const tab = await context.newPage()
  tab.setDefaultTimeout(minuteMs)
  tab.setDefaultNavigationTimeout(minuteMs)
  const incidents: string[] = []
  tab.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('pageerror', (error) => incidents.push(`script: ${error.message}`))
  tab.on('console', (message) => {
    if (!message.text().includes('503 (Service Unavailable)'))
      incidents.push(`console: ${message.text()}`)
  })
  tab.on('popup', () => incidents.push('popup'))
  tab.on('websocket', (socket) => incidents.push(`socket: ${socket.url()}`))
  tab.on('worker', () => incidents.push('worker'))
  await context.route('**', async (route) => {
    const url = route.request().url()
    if (url.startsWith(`${origin}/`)) return route.continue()
    incidents.push(`request: ${url}`)
    return route.abort()
  })

  /**
   * Opens a view. Tries up to five times while the page responds with 503, because on a busy
   * machine a view may take longer than the page waits for it.
   */
  async function open(path: string) {
    for (let attempt = 1; ; attempt++) {
      const response = await tab.goto(origin + path)
      if (response?.status() !== 503 || attempt === 5) return response
    }
  }
  return { tab, incidents, open }
}

/**
 * Lists everything in a tab's document that could run a script or load from another origin. Also
 * measures by how many pixels the document is wider than the window.
 */
const inspection = `({
  scripts: document.scripts.length,
  handlers: [...document.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].map(({ name }) => name).filter((name) => /^(on|style|srcdoc|formaction)/.test(name))),
  foreign: [...document.querySelectorAll('[href], [src], [action]')]
    .map((element) => element.href?.baseVal ?? element.href ?? element.src ?? element.action)
    .filter((url) => new URL(url, location).origin !== location.origin),
  frames: document.querySelectorAll('iframe, frame, object, embed, base, svg script, svg foreignObject, svg image').length,
  title: document.title,
  overflow: document.documentElement.scrollWidth - innerWidth,
})`

interface Inspection {
  scripts: number
  handlers: string[]
  foreign: string[]
  frames: number
  title: string
  overflow: number
}

interface Region {
  left: number
  right: number
  lastColumnRight: number
  isFocusable: boolean
}

/**
 * Scrolls each table of events to its end. Returns the left and right edges of the table, and the
 * right edge of its last column, in pixels.
 */
const scrollToTheEnd = `[...document.querySelectorAll('.scroll')].map((region) => {
  region.scrollLeft = region.scrollWidth
  const { left, right } = region.getBoundingClientRect()
  const lastColumnRight = region.querySelector('th:last-child').getBoundingClientRect().right
  return { left, right, lastColumnRight, isFocusable: region.tabIndex === 0 }
})`

async function checkTab(t: Test, tab: Page, path: string) {
  const found = await tab.evaluate<Inspection>(inspection)
  const scripts = path.startsWith('/live') ? 1 : 0
  t.match(found, { scripts, handlers: [], foreign: [], frames: 0, title: / · Intake$/ }, path)
  t.same([found.handlers, found.foreign], [[], []], path)
  t.ok(found.overflow <= 0, `${path} is ${found.overflow} pixels too wide`)
}

if (executablePath === undefined) {
  t.pass('skipped: there is no Chromium; install it, or set CHROMIUM to its path', {
    skip: 'no Chromium',
  })
} else {
  t.test('the page in Chromium, with hostile records from the gateway', async (t) => {
    const receiver = await startReceiver(t)
    const stack = await startStack(t, {
      dataDir: createDataDir(t),
      env: {
        FEEDBACK_WEBHOOK_URL: receiver.url,
        FEEDBACK_WEBHOOK_SECRET: 'a secret of the test',
      },
    })
    const origin = stack.endpoints.workerAdmin ?? ''
    t.ok(
      stack.lines.some((line) => line.includes(`Page         ${origin}/`)),
      'its URL is printed',
    )

    // Joins all hostile texts into one text. Some of them would hide the texts that follow, so a
    // second text has them in reverse order.
    const texts = [hostileTexts.join(' '), hostileTexts.toReversed().join(' ')].map((it) =>
      it.slice(0, 20_000),
    )
    const short = (hostile: string) => hostile.slice(0, 255)
    const feedback = await Promise.all(
      [...texts.map(short), ...hostileTexts.slice(0, 4)].map((it) => sendFeedback(stack, it)),
    )
    const events = await Promise.all(texts.map((it) => sendEvent(stack, short(it))))
    const count = async (view: string) =>
      (await stack.clickhouse.query<{ n: number }>(`SELECT count() AS n FROM intake.${view}`))[0]?.n
    await until('all are visible', async () => {
      return (
        (await count('feedback')) === feedback.length && (await count('logs')) === events.length
      )
    })

    const browser = await chromium.launch({
      executablePath,
      args: ['--no-sandbox'],
      timeout: 5 * minuteMs,
    })
    t.teardown(() => browser.close())

    const paths = [
      '/',
      '/events',
      '/dead-letters',
      '/live',
      '/feedback',
      '/status',
      ...feedback.slice(0, 3).map((id) => `/feedback/${id}`),
      `/events/${events[0]}`,
      `/feedback?text=${encodeURIComponent(hostileTexts[1] ?? '')}`,
      '/feedback/none',
    ]
    for (const width of [1200, 360]) {
      await t.test(
        `no view runs anything or leaves its origin, ${width} pixels wide`,
        async (t) => {
          const { tab, incidents, open } = await openTab(t, browser, { origin, width })
          for (const path of paths) {
            await open(path)
            await checkTab(t, tab, path)
          }
          // The browser reports a request that is refused with 400 as an error in the console. Such
          // errors are expected; all other incidents are not.
          t.same(
            incidents.filter((it) => !it.includes('400 (Bad Request)')),
            [],
          )
        },
      )
    }

    await t.test(
      'on a phone a table of events scrolls in itself, to its last column',
      async (t) => {
        const { tab, incidents, open } = await openTab(t, browser, { origin, width: 360 })
        for (const path of ['/', '/status']) {
          await open(path)
          const regions = await tab.evaluate<Region[]>(scrollToTheEnd)
          t.ok(regions.length > 0, path)
          for (const { left, right, lastColumnRight, isFocusable } of regions) {
            t.ok(left >= 0 && right <= 360, `${path}: from ${left} to ${right}`)
            t.ok(
              lastColumnRight <= right + 1,
              `${path}: its last column ends at ${lastColumnRight}`,
            )
            t.ok(isFocusable, `${path}: the keyboard can scroll it`)
          }
        }
        t.same(incidents, [])
      },
    )

    await t.test('the pictures of a feedback are shown, and open by themselves', async (t) => {
      const { tab, incidents, open } = await openTab(t, browser, { origin, width: 1200 })
      await open(`/feedback/${feedback[0]}`)
      const loaded = `[...document.images].map((image) => image.complete && image.naturalWidth > 0)`
      await until('all are loaded', async () => {
        const all = await tab.evaluate<boolean[]>(loaded)
        return all.length === images.length && all.every(Boolean)
      })
      const response = await open((await tab.getAttribute('.pics a', 'href')) ?? '')
      t.equal(response?.status(), 200)
      t.match(response?.headers()['content-security-policy'], 'sandbox')
      t.same(incidents, [])
    })

    await t.test('it works with the keyboard alone', async (t) => {
      const { tab, incidents, open } = await openTab(t, browser, { origin, width: 1200 })
      await open('/feedback')
      const focused = () => tab.evaluate<string>('document.activeElement.textContent.trim()')
      await tab.keyboard.press('Tab')
      t.equal(await focused(), 'Skip to the content')
      await tab.keyboard.press('Tab')
      t.equal(await focused(), 'Intake')
      await tab.focus('input[name=text]')
      await tab.keyboard.type('alert(1)')
      await Promise.all([tab.waitForURL(/[?&]text=alert/), tab.keyboard.press('Enter')])
      t.ok((await tab.locator('.item').count()) > 0, 'the search found some')
      await tab.focus('#id')
      await tab.keyboard.type(feedback[1] ?? '')
      await Promise.all([tab.waitForURL(`**/feedback/${feedback[1]}`), tab.keyboard.press('Enter')])
      t.same(incidents, [])
    })

    await t.test('the webhook was called for each feedback', async (t) => {
      await until('all are delivered', () => new Set(receiver.ids).size === feedback.length)
      t.same(new Set(receiver.ids), new Set(feedback))
    })
  })
}
