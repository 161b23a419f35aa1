import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { atTime, insertRows, logRow } from '../../../packages/schema/test/fixture.ts'
import { demoRows } from '../../../tools/cli/test/demo-rows.ts'
import { keysScript, liveScript } from '../../src/page/assets.ts'
import { ago, startRowStore } from './fixture.ts'
import { hostileRecords, hostileTexts, joinedTexts } from './hostile-records.ts'
import { openTab, startBrowser } from './tab.ts'

const browser = await startBrowser(t)
const application = 'com.example.demo.shop'
/**
 * The source of axe-core. The debugger evaluates it, because the security policy of the page
 * forbids other scripts.
 */
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** An expression for the browser. It returns what `inspect` checks in every view. */
const inspection = `({
  styled: document.querySelectorAll('[style], style').length,
  handlers: [...document.querySelectorAll('*')].flatMap((element) =>
    [...element.attributes].map(({ name }) => name).filter((name) => /^(on|srcdoc|formaction)/.test(name))),
  scripts: [...document.scripts].map(({ src }) => new URL(src).pathname),
  frames: document.querySelectorAll('iframe, frame, object, embed, base').length,
  foreign: [...document.querySelectorAll('[href], [src], [action]')]
    .map((element) => element.href?.baseVal ?? element.href ?? element.src ?? element.action)
    .filter((url) => new URL(url, location).origin !== location.origin && !url.startsWith('mailto:')),
  pictures: [...document.querySelectorAll('svg')].filter((svg) =>
    svg.querySelector('script, foreignObject, style, image')).length,
  texts: [...document.querySelectorAll('svg')].map((svg) => svg.textContent).join('\\n'),
})`

/**
 * An expression for the browser. It returns the cells of tables that are cut at the right edge of
 * their table or of the window, or that the style sheet hides although they have a number or a text.
 */
const hiddenCells = `[...document.querySelectorAll('table.stack td')].filter((cell) => {
  const { right, width } = cell.getBoundingClientRect()
  return cell.textContent.trim() !== '' && (width === 0 || right > innerWidth + 1)
}).map((cell) => cell.outerHTML)`

if (browser !== undefined) {
  const { owner, insert, refresh, startReaderPage } = await startRowStore(t)
  const now = Date.now()
  const records = demoRows({ events: 3_000, days: 1, now })
  await insert('logs', records.logs)
  await insert('feedback', records.feedback)
  await insertRows(owner, 'outcomes', outcomesUntil(now))
  const event = records.logs[1]
  const feedback = records.feedback[0]
  const toCart = records.logs.find(({ params }) => 'screen' in params && params.screen === 'cart')
  const buyer = toCart?.unique_user_id ?? ''
  const paths = [
    '/',
    '/?period=30d',
    '/live',
    '/events',
    '/events?period=7d&event=crash',
    '/events?period=1h',
    `/events/${event?.id}`,
    '/feedback',
    `/feedback/${feedback?.id}`,
    `/applications/${application}`,
    `/applications/${application}?tab=catalogue`,
    '/dead-letters',
    '/status',
    '/search?q=019abe10-f70d-797e-856d-48dc369b47fe',
    '/search?q=purchse',
    `/events?app=${application}`,
    '/help/webhook',
  ]

  t.test('views of ordinary records are small, and accessible in light and dark', async (t) => {
    await refresh()
    const { url } = await startReaderPage(t)
    const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
    for (const path of paths) {
      const response = await tab.goto(url + path)
      const size = (await response?.body())?.length ?? Infinity
      t.ok(size <= 68_000, `${path}: ${size} bytes`)
      await inspect(t, tab, path)
      await tab.evaluate(axe)
      // Dark colors change only the contrast, and a narrow window only the sizes.
      for (const [width, colorScheme, runOnly] of [
        [1280, 'light', ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']],
        [360, 'dark', ['color-contrast', 'target-size']],
      ] as const) {
        await tab.setViewportSize({ width, height: 800 })
        await tab.emulateMedia({ colorScheme })
        const { violations } = await tab.evaluate<{
          violations: { id: string; nodes: { html: string }[] }[]
        }>(`axe.run({ runOnly: ${JSON.stringify(runOnly)} })`)
        const shown = violations.map(({ id, nodes }) => [id, nodes[0]?.html])
        t.same(shown, [], `${path}, ${width} pixels, ${colorScheme}`)
      }
    }
    t.same(incidents, [])
  })

  t.test('on a phone no table hides a column, and the header has one line', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab } = await openTab(t, browser, { url, width: 390 })
    for (const path of ['/', '/status', `/applications/${application}?tab=catalogue`]) {
      await tab.goto(url + path)
      t.ok(await tab.locator('table.stack td').count(), path)
      t.same(await tab.evaluate<string[]>(hiddenCells), [], path)
      t.match(await tab.innerText('.fresh'), /^UTC · [67] min behind$/)
      const { height = Infinity } = (await tab.locator('.top').boundingBox()) ?? {}
      t.ok(height < 60, `${path}: the header has one line, of ${height} pixels`)
    }
    const long = { event: 'long', device: { version_name: '9'.repeat(60) } }
    await insert('logs', [logRow({ ...atTime(ago(1)), ...long })])
    await tab.goto(`${url}/events?event=long`)
    const width = "document.querySelector('.rows summary b').getBoundingClientRect().width"
    t.ok((await tab.evaluate<number>(width)) > 100, 'a long version leaves the name its place')
  })

  t.test('it works with the keyboard alone, and every focus is seen', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
    await tab.goto(`${url}/events`)
    const focused = () => tab.evaluate<string>('document.activeElement.textContent.trim()')
    await tab.keyboard.press('Tab')
    t.equal(await focused(), 'Skip to the content')
    const views = ['Overview', 'Live', 'Events', 'Feedback', /^Status/]
    for (const stop of ['Intake', 'All applications', ...views]) {
      await tab.keyboard.press('Tab')
      t.match(await focused(), stop)
      const width = 'getComputedStyle(document.activeElement).outlineWidth'
      const outline = await tab.evaluate<string>(width)
      t.ok(parseFloat(outline) >= 2, `${await focused()}: ${outline}`)
    }
    await tab.focus('.apps summary')
    await tab.keyboard.press('Enter')
    await tab.keyboard.press('Tab')
    await tab.keyboard.press('Escape')
    t.equal(await tab.locator('.apps[open]').count(), 0)
    t.equal(await focused(), 'All applications')
    await tab.focus('details.numbers summary')
    await tab.keyboard.press('Enter')
    t.ok(await tab.locator('details.numbers[open]').count())
    await tab.focus('.rows summary')
    await tab.keyboard.press('Enter')
    t.ok(await tab.locator('.rows details[open]').count())
    await tab.focus('#filter')
    await tab.keyboard.type(`user:${buyer} params.screen:cart`)
    await Promise.all([tab.waitForURL(`**/*user=${buyer}*`), tab.keyboard.press('Enter')])
    t.match(await tab.textContent('.rows'), 'screen:cart')
    t.notMatch(await tab.textContent('.rows'), 'screen:home')
    await tab.focus('.filter .chips a')
    const isWithout = (to: URL) => !to.search.includes('user')
    await Promise.all([tab.waitForURL(isWithout), tab.keyboard.press('Enter')])
    await tab.keyboard.press('/')
    await tab.keyboard.type(event?.id ?? '')
    await Promise.all([tab.waitForURL(`**/events/${event?.id}`), tab.keyboard.press('Enter')])
    t.same(incidents, [])
  })

  t.test('every task can be done with the keyboard alone', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab, incidents } = await openTab(t, browser, { url, width: 390 })
    const focus = `(document.activeElement.id + ' ' + document.activeElement.textContent).trim()`
    const reach = async (path: string, name: RegExp) => {
      await tab.goto(url + path)
      for (let stops = 0; stops < 200; stops++) {
        await tab.keyboard.press('Tab')
        if (name.test(await tab.evaluate<string>(focus))) return true
      }
      return false
    }
    for (const [path, name, to] of [
      ['/', /^Feedback$/, '/feedback'],
      ['/', /^7 d$/, 'period=7d'],
      ['/', /^Devices$/, 'sort=Devices'],
      ['/', /^all feedback$/, '/feedback?'],
      ['/events', /^follow live$/, '/live?'],
      ['/feedback', /^with e-mail/, 'has=email'],
      ['/feedback', /^Next$/, 'open='],
      ['/feedback', /^What this device did$/, '/feedback/'],
      [`/applications/${application}`, /^Catalogue$/, 'tab=catalogue'],
      ['/status', /^\d dead letters$/, '/dead-letters'],
    ] as const) {
      // On a phone the inbox shows a feedback only after it was chosen.
      await tab.setViewportSize({ width: path === '/feedback' ? 1280 : 390, height: 800 })
      if (!t.ok(await reach(path, name), `${path}: ${name.source} is reached`)) continue
      const isNew = (address: URL) => address.href !== url + path && address.href.includes(to)
      await Promise.all([tab.waitForURL(isNew), tab.keyboard.press('Enter')])
    }
    t.ok(await reach('/events', /^tz$/))
    await tab.keyboard.press('ControlOrMeta+a')
    await tab.keyboard.type('Asia/Tokyo')
    await Promise.all([tab.waitForURL(/tz=Asia/), tab.keyboard.press('Enter')])
    t.match(await tab.innerText('.fresh'), /^UTC\+09:00 · /)
    t.same(incidents, [])
  })

  t.test('no text of a client gets into a picture, and none runs', async (t) => {
    // `markup.slow.test.ts` opens the views of all texts. These are those that could end a tag.
    const [text = ''] = joinedTexts(6)
    const device = 'bd9c40f6-2f4f-4b8a-9d3b-7d3a4f1c2e10'
    const hostile = hostileRecords(text, { time: ago(90), device })
    await insert('feedback', [hostile.feedback])
    await insert('logs', [hostile.log])
    await refresh()
    const { url } = await startReaderPage(t)
    const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
    const named = `/applications/${encodeURIComponent(text)}`
    const own = [
      `/events/${hostile.log.id}`,
      `/feedback/${hostile.feedback.id}`,
      named,
      `${named}?tab=catalogue`,
    ]
    const search = `/feedback?text=${encodeURIComponent(hostileTexts[1] ?? '')}`
    for (const path of ['/', '/live', '/events', '/feedback', search, ...own]) {
      await tab.goto(url + path)
      await inspect(t, tab, path)
    }
    t.same(incidents, [])
  })
}

/** What the gateways have counted in a day: two keys send, and one of them is refused at the end. */
function outcomesUntil(nowMs: number): object[] {
  return Array.from({ length: 24 * 60 }, (_, minute) => {
    const at = new Date(Math.floor(nowMs / 60_000 - minute) * 60_000).toISOString()
    const run = '019abe10-f70d-797e-856d-48dc369b47fe'
    const row = (api_key_id: string, code: string, records: number) => ({
      minute: at,
      kind: 'logs',
      run,
      api_key_id,
      code,
      records,
    })
    return [
      row('key-1', 'accepted', 800 + (minute % 60)),
      row('key-2', 'accepted', 300),
      ...(minute < 180 ? [row('key-2', 'bundle_not_allowed', 40 + (minute % 9))] : []),
      ...(minute % 7 === 0 ? [row('', 'unauthorized', 2)] : []),
    ]
  }).flat()
}

async function inspect(t: Test, tab: Page, path: string): Promise<void> {
  const { texts, ...found } = await tab.evaluate<{ texts: string }>(inspection)
  const scripts = [keysScript.path, ...(path.startsWith('/live') ? [liveScript.path] : [])]
  t.same(found, { styled: 0, handlers: [], scripts, frames: 0, foreign: [], pictures: 0 }, path)
  for (const text of hostileTexts)
    t.notOk(texts.includes(text.slice(0, 20)), `${path}: ${JSON.stringify(text.slice(0, 20))}`)
  for (const width of [320, 768, 1280]) {
    await tab.setViewportSize({ width, height: 800 })
    const overflow = await tab.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    t.ok(overflow <= 0, `${path} is ${overflow} pixels too wide for ${width}`)
  }
}
