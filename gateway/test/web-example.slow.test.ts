import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium, type BrowserContextOptions } from 'playwright-core'
import t, { type Test } from 'tap'
import { loopbackOrigins } from '@intake/config'
import { findChromium } from '@intake/test-kit/chromium'
import { serve } from '@intake/test-kit/serve'
import { until } from '@intake/test-kit/until'
import { createSite } from '../../examples/web/serve.mjs'
import { bundleWeb } from '../../clients/javascript/bundle.mjs'
import { aimed, quickStartBlocks } from './openapi/quick-start.ts'
import { images, listen as listenOn, secret, startGateway, type TestGateway } from './support.ts'

const executablePath = findChromium()
const skip = executablePath === undefined && 'there is no Chromium'
/** If `PICTURES` names a folder, the test writes pictures of examples/web into it. */
const { PICTURES } = process.env

interface Site {
  listen(port: number, host: string): unknown
  address(): AddressInfo
  close(): void
}

const listen = async (gateway: TestGateway) => `http://127.0.0.1:${await listenOn(gateway)}`

async function openPage(t: Test, options: BrowserContextOptions = {}) {
  const browser = await chromium.launch({
    executablePath: executablePath!,
    args: ['--no-sandbox'],
  })
  t.teardown(() => browser.close())
  return browser.newPage(options)
}

t.test(
  'the page of examples/web sends events and feedback to another origin',
  { skip },
  async (t) => {
    const site = (await (createSite as () => Promise<Site>)()) as Site & NodeJS.EventEmitter
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    t.teardown(() => site.close())
    const origin = `http://127.0.0.1:${site.address().port}`
    const env = { CORS_ORIGINS: origin }
    const gateway = await startGateway(t, { env, key: { origins: [origin] } })
    const foreign = await startGateway(t, { env, key: { origins: ['https://app.example'] } })
    const page = await openPage(t, { viewport: { width: 1_000, height: 720 } })
    const take = async (name: string) => {
      const picture = await page.screenshot()
      if (PICTURES !== undefined) writeFileSync(join(PICTURES, name), picture)
    }
    const connect = async (to: TestGateway) => {
      await page.goto(origin)
      await page.fill('[name=url]', await listen(to))
      await page.fill('[name=apiKey]', secret)
      await page.click('#settings button')
    }

    await connect(foreign)
    await until('the page says why', async () =>
      ((await page.textContent('#sending')) ?? '').includes('origin_not_allowed'),
    )
    await take('refused.png')
    t.equal(foreign.frames.logs.length, 0)

    await connect(gateway)
    await page.click('[data-event=cart_opened]')
    await page.click('[data-event=item_added]')
    await page.fill('[name=text]', 'The total is wrong.')
    const file = { name: 'shot.png', mimeType: 'image/png', buffer: images.png }
    await page.setInputFiles('[name=picture]', file)
    await page.click('#feedback button')
    await until('everything is stored', () => gateway.rows('feedback').length === 1)
    await until('the page knows', async () =>
      ((await page.textContent('#lines')) ?? '').includes('feedback sent'),
    )
    await take('screenshot.png')
    const events = new Set(gateway.rows('logs').map(({ event }) => event))
    for (const event of ['page_opened', 'cart_opened', 'item_added']) t.ok(events.has(event))
    t.match(gateway.rows('feedback'), [{ text: 'The total is wrong.' }])
    t.equal(gateway.objects.size, 1)
  },
)

t.test(
  'the page of the quick start works as pasted, from another port of this machine',
  { skip },
  async (t) => {
    const gateway = await startGateway(t, { env: { CORS_ORIGINS: loopbackOrigins } })
    const [pasted = ''] = quickStartBlocks('ts', /'@intake\/client\/node'/)
    const code = aimed(pasted, { url: await listen(gateway), apiKey: secret })
    const imports = { '@intake/client': '/client.js' }
    const document =
      `<!doctype html><script type="importmap">${JSON.stringify({ imports })}</script>` +
      `<script type="module">${code.replace('@intake/client/node', '@intake/client')}</script>`
    const client = await bundleWeb()
    const site = await serve(t, ({ url }, response) => {
      const [type, body] = url === '/client.js' ? ['javascript', client] : ['html', document]
      response.writeHead(200, { 'content-type': `text/${type}; charset=utf-8` }).end(body)
    })
    const page = await openPage(t)
    const errors: string[] = []
    page.on('pageerror', ({ message }) => errors.push(message))
    await page.goto(site.url)
    await until(
      'both are stored',
      () => gateway.rows('logs').length + gateway.rows('feedback').length === 2,
    )
    t.match(gateway.rows('logs'), [{ event: 'screen_view' }])
    t.match(gateway.rows('feedback'), [{ text: 'It broke.' }])
    t.same(errors, [])
  },
)
