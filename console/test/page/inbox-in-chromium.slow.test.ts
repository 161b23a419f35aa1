import { chromium } from 'playwright-core'
import sharp from 'sharp'
import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
import type { Attachment, FeedbackSummary } from '../../src/page/records.ts'
import { emptyReader, startPage } from './fixture.ts'
import { openTab } from './tab.ts'

const executablePath = findChromium()
const id = '01a1fc28-0000-7000-8000-000000000001'
const sizes = { landscape: [1920, 1080], portrait: [1080, 2340], panorama: [6000, 800] } as const
type Shape = keyof typeof sizes

/** Feedback whose pictures have these shapes; a worker has examined every second picture. */
function feedbackWith(shapes: readonly Shape[]): FeedbackSummary {
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

const inbox = [
  feedbackWith(['landscape', 'landscape', 'landscape', 'landscape']),
  feedbackWith(['landscape', 'landscape']),
  feedbackWith(['portrait', 'landscape', 'panorama']),
  feedbackWith(['panorama', 'panorama', 'panorama', 'panorama']),
]

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

  t.test('pictures of any shape leave the text its place, and fit the window', async (t) => {
    const { url } = await startPage(t, {
      // `tab.route` below serves the pictures to the browser, so the page never reads one from the
      // store.
      store: { get: () => Promise.reject(new Error('not read')) },
      reader: {
        ...emptyReader,
        query: async <Row>(sql: string) => (sql.includes('text_start') ? inbox : []) as Row[],
        lines: async (_sql, params) =>
          inbox
            .filter((one) => one.id === params?.['id'])
            .map((one) => JSON.stringify({ ...one, text: one.text_start })),
      },
    })
    const { tab } = await openTab(t, browser, { url, width: 1280 })
    await tab.route('**/pictures/**', async (route) => {
      const shape = /-(\w+)\.png/.exec(route.request().url())?.[1] ?? ''
      await route.fulfill({ contentType: 'image/png', body: files.get(shape)! })
    })
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
}
