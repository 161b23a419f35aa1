import { join } from 'node:path'
import { kill } from 'node:process'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import t from 'tap'
import { createAppProcess } from '@intake/test-kit/app-process'
import { findChromium } from '@intake/test-kit/chromium'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { startServices } from '../packages/cli/test/services.ts'
import { openTab } from '../packages/page/test/tab.ts'

const executablePath = findChromium()
const root = fileURLToPath(new URL('../', import.meta.url))
const application = 'com.example.live'

if (executablePath === undefined) {
  t.pass('skipped: there is no Chromium; install it, or set CHROMIUM to its path', {
    skip: 'no Chromium',
  })
} else {
  const { dataDir, endpoints, server, intake } = await startServices(t)
  const apiKey = 'live-key-0123456789abcdef'
  const create = ['keys', 'create', '--name', 'live', '--from-env', 'LIVE_KEY']
  await intake(create, { LIVE_KEY: apiKey })
  const [gatewayPort] = (await freePorts(1)) as [number]
  const start = async (name: 'gateway' | 'worker', env: Record<string, string>) => {
    const app = createAppProcess({
      name,
      args: [join(root, name, 'dist/main.js')],
      env: { ...endpoints, ...env },
      logFile: join(dataDir, `${name}.log`),
    })
    t.teardown(() => app.kill())
    await app.start()
    return app
  }
  await start('gateway', { PORT: String(gatewayPort), GATEWAY_ADMIN_PORT: '0' })
  const worker = await start('worker', {
    WORKER_ADMIN_PORT: '0',
    PAGE_CLICKHOUSE_URL: server.readerUrl,
  })
  const gateway = `http://127.0.0.1:${gatewayPort}`
  await until('the gateway is ready', async () => (await fetch(`${gateway}/readyz`)).ok)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())

  const post = async (event: string, timestamp?: string) => {
    const response = await fetch(`${gateway}/api/log`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({
        bundle_identifier: application,
        device: { device_model: 'Pixel 8' },
        device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-0123456789ab',
        unique_user_id: 'user-1',
        log: { event, timestamp },
      }),
    })
    if (response.status !== 201) throw new Error(`${event}: ${response.status}`)
    return performance.now()
  }
  const url = worker.adminUrl().replace(/\/$/, '')
  const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
  const shown = async () =>
    (await tab.locator('#rows summary b').allTextContents()).map((name) => name.trim())
  const untilFirst = (event: string) =>
    until(`${event} is the first row`, async () => (await shown())[0] === event)
  const seconds = (sinceMs: number) => `${((performance.now() - sinceMs) / 1_000).toFixed(1)} s`

  t.test('a posted event is in the tab, also one of three hours ago, marked', async (t) => {
    await tab.goto(`${url}/live?application=${application}`)
    t.same(await shown(), [])
    const first = await post('just now')
    await untilFirst('just now')
    t.comment(`it is in the tab after ${seconds(first)}`)
    const late = await post('long ago', new Date(Date.now() - 3 * 3_600_000).toISOString())
    await untilFirst('long ago')
    t.comment(`that of three hours ago is in the tab after ${seconds(late)}`)
    t.same(await shown(), ['long ago', 'just now'], 'by arrival, each once')
    const rows = tab.locator('#rows > li')
    t.match(await rows.nth(0).textContent(), '3 h late')
    t.notMatch(await rows.nth(1).textContent(), 'late')
    t.same(incidents, [])
  })

  t.test('while ClickHouse is frozen the header says how far behind it is', async (t) => {
    const behind = async () => {
      const text = (await tab.textContent('.fresh')) ?? ''
      const [, number = '', unit = ''] =
        /complete up to \S+\s+(\d+) (s|min) behind/.exec(text) ?? []
      return Number(number) * (unit === 'min' ? 60 : 1)
    }
    await until('the header says how far behind', async () => (await behind()) > 0)
    const before = await behind()
    kill(server.pid, 'SIGSTOP')
    const frozenAt = performance.now()
    try {
      await tab.getByText(/No answer, next try in/).waitFor()
      await until('the header is further behind', async () => (await behind()) > before)
      t.comment(
        `the header goes from ${before} s to ${await behind()} s behind, ${seconds(frozenAt)} after the freeze`,
      )
      await post('while frozen')
      const { tab: other } = await openTab(t, browser, { url, width: 1280 })
      const response = await other.goto(`${url}/status`)
      t.equal(response?.status(), 200)
      t.match(await other.textContent('main'), 'ClickHouse does not respond')
      t.match(await other.textContent('.fresh'), /behind/)
      await until('the header warns', async () => (await tab.locator('.fresh.is-late').count()) > 0)
      t.notMatch(await shown(), ['while frozen'])
    } finally {
      kill(server.pid, 'SIGCONT')
    }
    const thawedAt = performance.now()
    await untilFirst('while frozen')
    t.comment(`what was accepted meanwhile is in the tab ${seconds(thawedAt)} after the thaw`)
    t.same(await shown(), ['while frozen', 'long ago', 'just now'])
    await until(
      'the header is fresh',
      async () => (await tab.locator('.fresh.is-late').count()) === 0,
    )
  })
}
