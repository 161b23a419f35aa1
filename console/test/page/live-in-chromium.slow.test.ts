import t from 'tap'
import { until } from '@intake/test-kit/until'
import { atTime, logRow } from '../../../packages/schema/test/fixture.ts'
import { calmState, startRowStore } from './fixture.ts'
import { openTab, startBrowser } from './tab.ts'

const browser = await startBrowser(t)

if (browser !== undefined) {
  const { insert, startReaderPage } = await startRowStore(t)

  t.test('live shows what arrives, holds it back on demand, and survives a failure', async (t) => {
    let behindMs = 420_000
    const visibleUntilMs = () => Date.now() - behindMs
    const { url } = await startReaderPage(t, { state: { ...calmState, visibleUntilMs } })
    const { tab, incidents, context } = await openTab(t, browser, { url, width: 1280 })
    await tab.goto(`${url}/live?app=com.example.live`)
    const arrive = (name: string, ageMs = 0) => {
      const row = { bundle_identifier: 'com.example.live', event: name }
      const received_at = new Date().toISOString()
      return insert('logs', [logRow({ ...atTime(Date.now() - ageMs), ...row, received_at })])
    }
    const shown = async () => tab.locator('#rows summary b').allTextContents()
    const untilShown = (names: string[]) =>
      until(`the rows are ${names.join(', ')}`, async () => {
        const now = (await shown()).map((name) => name.trim())
        return now.length === names.length && names.every((name, at) => now[at] === name)
      })
    await tab.focus('#filter')
    await tab.keyboard.type('typed')
    await arrive('first')
    await untilShown(['first'])
    await arrive('three hours ago', 3 * 3_600_000)
    await untilShown(['three hours ago', 'first'])
    t.match(await tab.textContent('#rows li'), '3 h late')
    t.equal(await tab.inputValue('#filter'), 'typed', 'what was typed is there')

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

    await tab.locator('.fresh[data-variant=warning]', { hasText: '7 min behind' }).waitFor()
    behindMs = 20_000
    await tab.locator('.fresh[data-variant=success]', { hasText: '20 s behind' }).waitFor()
    behindMs = 3_600_000
    await tab.locator('.fresh[data-variant=warning]', { hasText: '60 min behind' }).waitFor()

    await context.setOffline(true)
    await tab.getByText(/No answer, next try in/).waitFor()
    await arrive('after the failure')
    await context.setOffline(false)
    await untilShown(['after the failure', 'paused', 'held', 'three hours ago', 'first'])

    // An error is a whole document. Its parts, such as `main`, replace none of this one.
    await tab.evaluate('document.activeElement.blur()')
    const error = await (await fetch(`${url}/live/rows?since=never`)).text()
    await tab.route('**/live/rows?*', (route) => route.fulfill({ status: 503, body: error }))
    await tab.getByText(/No answer, next try in/).waitFor()
    await arrive('after an error')
    await tab.unroute('**/live/rows?*')
    await untilShown([
      'after an error',
      'after the failure',
      'paused',
      'held',
      'three hours ago',
      'first',
    ])
    const others = incidents.filter((it) => !/ERR_INTERNET_DISCONNECTED|status of 503/.test(it))
    t.same(others, [])
  })

  t.test('live says what a poll left out, and forgets the events of long ago', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab, incidents } = await openTab(t, browser, { url, width: 1280 })
    const rowOf = (name: string) =>
      `<li><details><summary><b>event ${name}</b></summary><a href="?id=${name}">id</a></details></li>`
    const rowsOf = (poll: number) =>
      Array.from({ length: 200 }, (_, n) => rowOf(`${poll}.${n}`)).join('')
    // Each of the first six polls finds new events. Once `seventh` is set, the next poll finds the
    // events of the first and the sixth poll again.
    let polls = 0
    let seventh = false
    await tab.route('**/live/rows?*', (route) => {
      let body = ''
      if (polls < 6) body = rowsOf(++polls)
      else if (seventh) {
        seventh = false
        body = rowsOf(1) + rowsOf(6)
      }
      const headers = { 'x-state': 'Live: only some', 'x-since': '1' }
      return route.fulfill({ contentType: 'text/html', headers, body })
    })
    await tab.clock.install()
    await tab.goto(`${url}/live?app=com.example.many`)
    const untilFirstIs = (name: string) =>
      until(`the first row is ${name}`, async () => {
        await tab.clock.runFor(2_000)
        const [first] = await tab.locator('#rows summary b').allTextContents()
        return first?.trim() === name
      })
    await untilFirstIs('event 6.0')
    t.equal((await tab.textContent('#state'))?.trim(), 'Live: only some')
    seventh = true
    await untilFirstIs('event 1.0')
    const shown = await tab.locator('#rows summary b').allTextContents()
    t.equal(shown.length, 200)
    for (const name of shown) t.match(name, /^event 1\./, 'the latest are not shown again')
    t.same(incidents, [])
  })

  t.test('without scripts live loads again, and shows what has arrived', async (t) => {
    const { url } = await startReaderPage(t)
    const { tab } = await openTab(t, browser, { url, width: 1280, javaScriptEnabled: false })
    await tab.goto(`${url}/live?app=com.example.noscript`)
    const row = { bundle_identifier: 'com.example.noscript', event: 'seen' }
    await insert('logs', [logRow({ ...atTime(Date.now()), ...row })])
    await tab.locator('#rows summary b', { hasText: 'seen' }).waitFor()
    t.notOk(await tab.isVisible('#pause'), 'what needs the script is not shown')
  })
}
