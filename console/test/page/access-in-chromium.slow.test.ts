import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium } from 'playwright-core'
import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
import { stylesheet } from '../../src/page/assets.ts'
import { startPage } from './fixture.ts'

const executablePath = findChromium()
const skip =
  executablePath === undefined && 'there is no Chromium; install it, or set CHROMIUM to its path'

t.test(
  'a web page that opens this page with wrong passwords locks no reader out',
  { skip },
  async (t) => {
    const password = 'a secret of the test'
    const { port } = await startPage(t, { password })
    const attack = `<!doctype html><script>
    for (let n = 0; n < 12; n++) window.open('http://reader:guess' + n + '@127.0.0.1:${port}/')
    // The pages that the browser shows have a style sheet and an icon, which it requests with the
    // same password.
    for (let n = 0; n < 15; n++) window.open('http://reader:guess@a' + n + '.localhost:${port}/')
  </script>`
    const site = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end(attack)
    })
    site.listen(0, '127.0.0.1')
    await once(site, 'listening')
    t.teardown(() => site.close())

    const timeout = 5 * 60_000
    const browser = await chromium.launch({
      ...(executablePath !== undefined && { executablePath }),
      args: ['--no-sandbox'],
      timeout,
    })
    t.teardown(() => browser.close())
    const context = await browser.newContext()
    const seen: number[] = []
    context.on('response', (response) => seen.push(response.status()))
    const tab = await context.newPage()
    await tab.goto(`http://localhost:${(site.address() as AddressInfo).port}/`, { timeout })
    await until(
      'its passwords are refused',
      () => seen.filter((status) => status === 429).length > 15,
    )

    const response = await fetch(`http://127.0.0.1:${port}${stylesheet.path}`, {
      headers: { authorization: `Basic ${btoa(`reader:${password}`)}` },
    })
    t.equal(response.status, 200)

    const visitor = await browser.newContext({ httpCredentials: { username: 'reader', password } })
    const opened = await (
      await visitor.newPage()
    ).goto(`http://127.0.0.1:${port}${stylesheet.path}`, { timeout })
    t.equal(opened?.status(), 200, 'and in a browser')
  },
)
