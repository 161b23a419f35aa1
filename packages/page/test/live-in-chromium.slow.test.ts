import { chromium } from 'playwright-core'
import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { until } from '@intake/test-kit/until'
import { logRow, uuidV7 } from '../../schema/test/fixture.ts'
import { startRowStore } from './fixture.ts'
import { openTab } from './tab.ts'

const executablePath = findChromium()

if (executablePath === undefined) {
  t.pass('skipped: there is no Chromium; install it, or set CHROMIUM to its path', {
    skip: 'no Chromium',
  })
} else {
  const { insert, startReaderPage } = await startRowStore(t)
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  t.teardown(() => browser.close())

  t.test('live shows what arrives, holds it back on demand, and survives a failure', async (t) => {
    const { url } = await startReaderPage(t, {})
    const { tab, incidents, context } = await openTab(t, browser, { url, width: 1280 })
    await tab.goto(`${url}/live?application=com.example.live`)
    const arrive = (name: string, ageMs = 0) => {
      const time = new Date(Date.now() - ageMs).toISOString()
      const received_at = new Date().toISOString()
      return insert('logs', [
        logRow({
          id: uuidV7(time),
          time,
          received_at,
          bundle_identifier: 'com.example.live',
          event: name,
        }),
      ])
    }
    const shown = async () => tab.locator('#rows summary b').allTextContents()
    const untilShown = (names: string[]) =>
      until(`the rows are ${names.join(', ')}`, async () => {
        const now = (await shown()).map((name) => name.trim())
        return now.length === names.length && names.every((name, at) => now[at] === name)
      })
    await tab.focus('input[name=user]')
    await tab.keyboard.type('typed')
    await arrive('first')
    await untilShown(['first'])
    await arrive('three hours ago', 3 * 3_600_000)
    await untilShown(['three hours ago', 'first'])
    t.match(await tab.textContent('#rows li'), '3 h late')
    t.equal(await tab.inputValue('input[name=user]'), 'typed', 'what was typed is there')

    await tab.click('#rows summary')
    await arrive('held')
    await tab.getByText('1 new, show').waitFor()
    t.match(await tab.textContent('#state'), 'Held: a row is open')
    await tab.click('#rows summary')
    await untilShown(['held', 'three hours ago', 'first'])

    await tab.click('#pause')
    await arrive('paused')
    await tab.getByText('1 new, show').waitFor()
    await tab.click('#held')
    await untilShown(['paused', 'held', 'three hours ago', 'first'])
    await tab.click('#pause')

    await context.setOffline(true)
    await tab.getByText(/No answer, next try in/).waitFor()
    await arrive('after the failure')
    await context.setOffline(false)
    await untilShown(['after the failure', 'paused', 'held', 'three hours ago', 'first'])
    t.same(
      incidents.filter((it) => !it.includes('ERR_INTERNET_DISCONNECTED')),
      [],
    )
  })

  t.test('without scripts live loads again, and shows what has arrived', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab } = await openTab(t, browser, { url, width: 1280, javaScriptEnabled: false })
    await tab.goto(`${url}/live?application=com.example.noscript`)
    const time = new Date().toISOString()
    await insert('logs', [
      logRow({
        id: uuidV7(time),
        time,
        received_at: time,
        bundle_identifier: 'com.example.noscript',
        event: 'seen',
      }),
    ])
    await tab.locator('#rows summary b', { hasText: 'seen' }).waitFor()
    t.notOk(await tab.isVisible('#pause'), 'what needs the script is not shown')
  })
}
