import type { Route } from 'playwright-core'
import sharp from 'sharp'
import t from 'tap'
import type { PageOptions } from '../../src/page/page.ts'
import type { Attachment, FeedbackSummary } from '../../src/page/records.ts'
import { emptyReader, startPage } from './fixture.ts'
import { openTab, startBrowser } from './tab.ts'

const browser = await startBrowser(t)
const picture = { content_type: 'image/png', bytes: 400_000, sha256: '0'.repeat(64), error: null }

/** Feedback with pictures of which a console has examined every second one. */
function feedbackWith(pictures: number, n: number): FeedbackSummary {
  const id = `01a1fc28-0000-7000-8000-00000000000${n}`
  const attachments = Array.from({ length: pictures }, (_, index): Attachment => {
    const key = `feedback/2026/11/21/${id}/${index + 1}.png`
    return index % 2 === 1
      ? { ...picture, key, width: 1920, height: 1080, thumbnail_key: key }
      : { ...picture, key, width: null, height: null, thumbnail_key: null }
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

const inbox = [4, 2].map(feedbackWith)

if (browser !== undefined) {
  const create = { width: 1920, height: 1080, channels: 3, background: '#888' } as const
  const body = await sharp({ create }).png().toBuffer()

  // `tab.route` serves the pictures to the browser, so the page never reads one from the store.
  const store = { get: () => Promise.reject(new Error('not read')) }
  const servePicture = (route: Route) => route.fulfill({ contentType: 'image/png', body })
  const reader: PageOptions['reader'] = {
    ...emptyReader,
    // The page finds the rows of the list, then reads them.
    query: async <Row>(sql: string) =>
      (/^SELECT (bundle_identifier, time, id|[^]*text_start)/.test(sql) ? inbox : []) as Row[],
    lines: async (_sql, params) =>
      inbox
        .filter((one) => one.id === params?.['id'])
        .map((one) => JSON.stringify({ ...one, text: one.text_start })),
  }

  t.test('by the keyboard j and k step through the inbox, and a picture opens', async (t) => {
    const { url } = await startPage(t, { store, reader })
    const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
    await tab.route('**/pictures/**', servePicture)
    await tab.goto(`${url}/feedback`)
    const openIs = (index: number) =>
      tab.waitForSelector(`.mail ol > li.open:nth-child(${index + 1})`, { state: 'attached' })
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
  })
}
