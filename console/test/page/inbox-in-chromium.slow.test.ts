import { chromium, type Route } from 'playwright-core'
import sharp from 'sharp'
import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
import type { PageOptions } from '../../src/page/page.ts'
import type { Attachment, FeedbackSummary } from '../../src/page/records.ts'
import { emptyReader, startPage } from './fixture.ts'
import { openTab } from './tab.ts'

const executablePath = findChromium()
const sizes = { landscape: [1920, 1080], portrait: [1080, 2340], panorama: [6000, 800] } as const
type Shape = keyof typeof sizes

/** Feedback whose pictures have these shapes; a worker has examined every second picture. */
function feedbackWith(shapes: readonly Shape[], n: number): FeedbackSummary {
  const id = `01a1fc28-0000-7000-8000-00000000000${n}`
  const attachments = shapes.map((shape, index): Attachment => {
    const [width, height] = sizes[shape]
    const key = `feedback/2026/11/21/${id}/${index + 1}-${shape}.png`
    const isExamined = index % 2 === 1
    return {
      key,
      content_type: 'image/png',
      bytes: 400_000,
      sha256: '0'.repeat(64),
      width: isExamined ? width : null,
      height: isExamined ? height : null,
      thumbnail_key: isExamined ? key : null,
      error: null,
    }
  })
  return {
    id,
    time: '2026-11-21 03:00:00.123',
    bundle_identifier: 'com.example.shop',
    device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10',
    unique_user_id: 'user-1',
    email: 'somebody@example.com',
    text_start: 'The checkout button does nothing after I change the address of the order.',
    text_length: 73,
    os: 'Android',
    model: 'Pixel 8',
    version: '4.12.1',
    country: 'DE',
    attachments,
  }
}

const inbox = (
  [
    ['landscape', 'landscape', 'landscape', 'landscape'],
    ['landscape', 'landscape'],
    ['portrait', 'landscape', 'panorama'],
    ['panorama', 'panorama', 'panorama', 'panorama'],
  ] as const
).map(feedbackWith)

/** The path of the inbox in which a feedback is open. */
const openPath = (one: (typeof inbox)[number]) =>
  `/feedback?open=${one.id}.${one.device_uuid}.${one.bundle_identifier}`

/** Whether all visible pictures are loaded. The browser does not load hidden pictures. */
const areShown = `(() => {
  const visible = [...document.images].filter((image) => image.offsetWidth > 0)
  return visible.length > 0 && visible.every((image) => image.naturalWidth > 0)
})()`

if (executablePath === undefined) {
  t.pass('skipped: there is no Chromium; install it, or set CHROMIUM to its path', {
    skip: 'no Chromium',
  })
} else {
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())
  const files = new Map<string, Buffer>()
  for (const [shape, [width, height]] of Object.entries(sizes)) {
    const create = { width, height, channels: 3, background: '#888' } as const
    files.set(shape, await sharp({ create }).png().toBuffer())
  }

  // `tab.route` serves the pictures to the browser, so the page never reads one from the store.
  const store = { get: () => Promise.reject(new Error('not read')) }
  const servePicture = async (route: Route) => {
    const shape = /-(\w+)\.png/.exec(route.request().url())?.[1] ?? ''
    await route.fulfill({ contentType: 'image/png', body: files.get(shape)! })
  }
  const reader: PageOptions['reader'] = {
    ...emptyReader,
    query: async <Row>(sql: string) => (sql.includes('text_start') ? inbox : []) as Row[],
    lines: async (_sql, params) =>
      inbox
        .filter((one) => one.id === params?.['id'])
        .map((one) => JSON.stringify({ ...one, text: one.text_start })),
  }

  t.test('pictures of any shape leave the text its place, and fit the window', async (t) => {
    const { url } = await startPage(t, { store, reader })
    const { tab } = await openTab(t, browser, { url, width: 1280 })
    await tab.route('**/pictures/**', servePicture)
    for (const width of [360, 768, 1000, 1280]) {
      await tab.setViewportSize({ width, height: 4_000 })
      for (const path of ['/?period=7d', ...inbox.map(openPath)]) {
        await tab.goto(url + path)
        await until('the browser shows the pictures', () => tab.evaluate<boolean>(areShown))
        const found = await tab.evaluate<{ overflow: number; texts: number[]; wide: number }>(`({
          overflow: document.documentElement.scrollWidth - innerWidth,
          texts: [...document.querySelectorAll('.item .text, .big > h2')].map((text) => text.offsetWidth),
          wide: [...document.querySelectorAll('.item, .big')].filter(
            (item) => item.scrollWidth > item.clientWidth).length,
        })`)
        t.match(found, { overflow: 0, wide: 0 }, `${path} at ${width} pixels`)
        t.ok(found.texts.length > 0)
        // About 16 letters fit in 120 pixels.
        for (const text of found.texts) t.ok(text >= 120, `${path} at ${width}: ${text} pixels`)
      }
    }
  })
  t.test(
    'j and k step through the inbox, and a picture opens large, by the keyboard',
    async (t) => {
      const { url } = await startPage(t, { store, reader })
      const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
      await tab.route('**/pictures/**', servePicture)
      await tab.goto(`${url}/feedback`)
      const openIs = (index: number) =>
        tab.waitForFunction(
          `document.querySelectorAll('.mail ol > li')[${index}]?.className === 'open'`,
        )
      await openIs(0)
      await tab.keyboard.press('j')
      await openIs(1)
      await tab.keyboard.press('k')
      await openIs(0)
      await tab.keyboard.press('/')
      await tab.keyboard.type('jk')
      t.equal(await tab.inputValue('#q'), 'jk', 'keys are letters in a field')

      await tab.focus('.big .pics a')
      await tab.keyboard.press('Enter')
      const counter = tab.locator('#large output')
      t.equal(await counter.textContent(), '1 of 4')
      await tab.keyboard.press('ArrowRight')
      t.equal(await counter.textContent(), '2 of 4')
      await tab.keyboard.press('ArrowLeft')
      await tab.keyboard.press('ArrowLeft')
      t.equal(await counter.textContent(), '4 of 4')
      t.ok(await tab.evaluate("document.querySelector('#large img').naturalWidth > 0"))
      await tab.keyboard.press('Escape')
      t.notOk(await tab.isVisible('#large'))
      t.same(incidents, [])
    },
  )

  t.test('times are in another zone on request, without scripts', async (t) => {
    const { url } = await startPage(t, { store, reader })
    const { tab } = await openTab(t, browser, { url, width: 390, javaScriptEnabled: false })
    await tab.goto(`${url}/feedback`)
    t.match(await tab.textContent('.big .meta time'), '2026-11-21 03:00:00')
    await tab.fill('#tz', 'Asia/Tokyo')
    await tab.press('#tz', 'Enter')
    await tab.waitForURL(/tz=Asia/)
    t.match(await tab.textContent('.big .meta time'), '2026-11-21 12:00:00')
    await tab.goto(`${url}/feedback`)
    t.match(await tab.textContent('.big .meta time'), '2026-11-21 12:00:00')
  })
}
