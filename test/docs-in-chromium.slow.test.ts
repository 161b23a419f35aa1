import { writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { startGateway } from '../gateway/test/support.ts'

const executablePath = findChromium()
const minuteMs = 60_000
/** The path of a folder. If it is set, the test writes the picture for docs/images into it. */
const { PICTURES } = process.env

/**
 * An expression that the browser evaluates to describe the rendered page. It does not find
 * violations of the content security policy: the browser reports them on the console (see `watch`).
 */
const inspection = `({
  overflow: document.documentElement.scrollWidth - innerWidth,
  background: getComputedStyle(document.querySelector('pre')).backgroundColor,
  scheme: matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light',
  canvas: getComputedStyle(document.documentElement).colorScheme,
  hidden: [...document.querySelectorAll('pre, .scroll')].filter((region) => region.tabIndex !== 0).length,
  cut: [...document.querySelectorAll('td')].filter((cell) => cell.getBoundingClientRect().right > innerWidth).length,
  headings: document.querySelectorAll('h2').length,
})`

if (executablePath === undefined) {
  t.pass('skipped: there is no Chromium; install it, or set CHROMIUM to its path', {
    skip: 'no Chromium',
  })
} else {
  t.test('the page for developers in Chromium, under its policy', async (t) => {
    const { app } = await startGateway(t)
    await app.listen({ host: '127.0.0.1', port: 0 })
    const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
    const args = ['--no-sandbox', '--disable-background-networking']
    const browser = await chromium.launch({ executablePath, args, timeout: 5 * minuteMs })
    t.teardown(() => browser.close())

    for (const [width, colorScheme] of [
      [1200, 'light'],
      [360, 'dark'],
    ] as const) {
      await t.test(
        `it renders ${width} pixels wide, ${colorScheme}, without an error`,
        async (t) => {
          const context = await browser.newContext({
            viewport: { width, height: 800 },
            colorScheme,
          })
          t.teardown(() => context.close())
          const { tab, incidents } = await watch(await context.newPage(), origin)
          await tab.goto(`${origin}/docs`)
          t.match(await tab.evaluate(inspection), {
            overflow: 0,
            background: /^(?!rgba\(0, 0, 0, 0\)$)/,
            scheme: colorScheme,
            canvas: 'light dark',
            hidden: 0,
            cut: 0,
            headings: 4,
          })
          if (PICTURES !== undefined && width > 1000) {
            writeFileSync(join(PICTURES, 'docs.png'), await tab.screenshot())
          }
          await tab.click('nav a[href="#errors"]')
          t.equal(await tab.evaluate('location.hash'), '#errors')
          t.equal(
            await tab.evaluate("document.querySelector('header a').href"),
            `${origin}/openapi.json`,
          )
          t.same(incidents, [])
        },
      )
    }

    await t.test('one language is shown; its example is copied, its section marked', async (t) => {
      const context = await browser.newContext({
        permissions: ['clipboard-read', 'clipboard-write'],
      })
      t.teardown(() => context.close())
      const { tab, incidents } = await watch(await context.newPage(), origin)
      await tab.goto(`${origin}/docs`)
      const first = tab.locator('details:has(#curl) pre').first()
      t.ok(await first.isVisible())
      await tab.click('summary:has(#the-client-for-swift)')
      t.notOk(await first.isVisible(), 'another language hides the first')
      const code = tab.locator('details[open] .code').first()
      await code.locator('button').click()
      await code.getByText('Copied').waitFor()
      t.equal(
        await tab.evaluate('navigator.clipboard.readText()'),
        await code.locator('pre').textContent(),
      )
      await tab.goto(`${origin}/docs#limits`)
      await tab.waitForFunction("document.querySelector('nav [aria-current]')?.hash === '#limits'")
      t.same(incidents, [])
    })
  })
}

/** Records every error and console message, and every request that does not go to the gateway. */
async function watch(tab: Page, origin: string) {
  tab.setDefaultTimeout(5 * minuteMs)
  const incidents: string[] = []
  tab.on('pageerror', ({ message }) => incidents.push(`script: ${message}`))
  tab.on('console', (message) => incidents.push(`console: ${message.text()}`))
  tab.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`)) incidents.push(`request: ${request.url()}`)
  })
  return { tab, incidents }
}
