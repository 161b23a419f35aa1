import { chromium, type BrowserContext, type Page } from 'playwright-core'
import t, { type Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import type { PageWindow } from '../../adapters/web-driver.ts'
import type { WebOptions } from '../../src/web/index.ts'
import { startHttpIntake, type HttpIntake } from '../node/http-intake.ts'
import { bundleWeb } from '../../bundle.mjs'

export const executablePath = findChromium()

declare const window: PageWindow

export interface Visit {
  page: Page
  create(options?: Partial<WebOptions>): Promise<void>
}

const launch = () => chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox'] })
let browser: ReturnType<typeof launch> | undefined
let bundle: ReturnType<typeof bundleWeb> | undefined
t.teardown(async () => (await browser)?.close())

/** Opens a profile of its own, and a site that serves the gateway under the path `/i/`. */
export async function startBrowser(test: Test): Promise<{
  context: BrowserContext
  server: HttpIntake
  visit(): Promise<Visit>
}> {
  const server = await startHttpIntake(test)
  server.files.set('/', {
    type: 'text/html',
    body:
      '<!doctype html><title>Shop</title><script type="module">' +
      'import * as client from "/client.js"; window.IntakeClient = client</script>',
  })
  server.files.set('/client.js', { type: 'text/javascript', body: await (bundle ??= bundleWeb()) })
  server.files.set('/empty', { type: 'text/html', body: '<!doctype html><title>Empty</title>' })
  browser ??= launch()
  const context = await (await browser).newContext()
  test.teardown(() => context.close())
  return {
    context,
    server,
    async visit() {
      const page = await context.newPage()
      await page.goto(`${server.url}/`)
      return {
        page,
        create: (options = {}) =>
          page.evaluate((given) => {
            window.client = window.IntakeClient.createIntake({
              url: '/i',
              apiKey: 'ik_test',
              bundleIdentifier: 'com.example.shop',
              ...given,
            })
          }, options),
      }
    },
  }
}
