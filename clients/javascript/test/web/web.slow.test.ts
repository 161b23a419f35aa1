import type { Page, Route } from 'playwright-core'
import t from 'tap'
import { until } from '@intake/test-kit/until'
import type { PageWindow } from '../../adapters/web-driver.ts'
import { startHttpIntake } from '../node/http-intake.ts'
import { startRedirecting } from '../node/redirecting.ts'
import { executablePath, startBrowser } from './browser.ts'

declare const window: PageWindow & {
  dispatchEvent(event: Event): void
}
declare const IDBFactory: {
  prototype: { open(name?: string): EventTarget & { onsuccess: unknown } }
}
declare const indexedDB: { deleteDatabase(name: string): { onsuccess: unknown } }

const skip = executablePath === undefined && 'there is no Chromium'

t.test('an event of a page becomes a row, and a reload changes nothing', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create({ userId: 'user-1' })
  const id = await page.evaluate(() => window.client.log('view', { path: '/cart' }))
  t.same(await page.evaluate(() => window.client.flush()), { left: 0 })
  const row = server.rows.get(id!)!
  t.match(row, { params: { path: '/cart' }, sequence: 1, batch: { unique_user_id: 'user-1' } })
  t.match(row.batch.device, { os: 'Linux', user_agent: /Chrom/ })
  await page.reload()
  await create()
  await page.evaluate(() => window.client.log('again'))
  t.same(await page.evaluate(() => window.client.flush()), { left: 0 })
  t.equal(server.rows.size, 2)
  t.equal(new Set([...server.rows.values()].map(({ batch }) => batch.device_uuid)).size, 1)
  const sequences = [...server.rows.values()].map(({ sequence }) => sequence)
  t.same(sequences, [1, 2])
})

t.test('tabs that are opened together at the first visit are one device', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const tabs = await Promise.all(Array.from({ length: 6 }, visit))
  await Promise.all(tabs.map(({ create }) => create()))
  await Promise.all(
    tabs.map(({ page }) =>
      page.evaluate(() => {
        window.client.log('view')
        return window.client.flush()
      }),
    ),
  )
  const devices = [...server.rows.values()].map(({ batch }) => batch.device_uuid)
  t.equal(devices.length, tabs.length)
  t.equal(new Set(devices).size, 1)
})

t.test('what was stored offline is sent by the next visit', { skip }, async (t) => {
  const { server, context, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create()
  await context.setOffline(true)
  await page.evaluate(async () => {
    for (let n = 0; n < 700; n++) window.client.log('tap', { n })
    await window.client.feedback({
      text: 'Offline',
      attachments: [new File(['picture'], 'shot.png', { type: 'image/png' })],
    })
    await window.client.stored()
  })
  t.same(await page.evaluate(() => window.client.flush({ timeoutMs: 10 })), { left: 701 })
  await page.close()
  await context.setOffline(false)
  const next = await visit()
  await next.create()
  await until('all are rows', () => server.rows.size === 700 && server.feedback.length > 0)
  t.match(server.feedback[0], { attachments: [{ name: 'shot.png', text: 'picture' }] })
})

t.test('two tabs share the storage; each event has its own number', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const tabs = [await visit(), await visit()]
  for (const { create } of tabs) await create({ flushIntervalMs: 20 })
  await Promise.all(
    tabs.map(({ page }, tab) =>
      page.evaluate(async (number) => {
        for (let n = 0; n < 300; n++) {
          window.client.log('tap', { tab: number, n })
          if (n % 10 === 0) await window.client.stored()
        }
        await window.client.flush()
      }, tab),
    ),
  )
  await until('all are rows', () => server.rows.size === 600)
  const events = new Set([...server.rows.values()].map(({ params }) => JSON.stringify(params)))
  t.equal(events.size, 600)
  const numbers = [...server.rows.values()]
    .map(({ sequence }) => sequence!)
    .toSorted((a, b) => a - b)
  t.same(
    numbers,
    Array.from({ length: 600 }, (_, at) => at + 1),
  )
})

t.test('a page closed 50 ms after an event loses none beside another', { skip }, async (t) => {
  const rounds = Number(process.env['ROUNDS'] ?? 10)
  const { server, visit } = await startBrowser(t)
  const other = await visit()
  await other.create({ flushIntervalMs: 20 })
  // On a busy machine 50 ms may not suffice to store an event. Such an event is not counted as
  // lost, because it was never reported as stored.
  const late = new Set<number>()
  for (let n = 0; n < rounds; n++) {
    const { page, create } = await visit()
    await create()
    const logging = other.page.evaluate((round) => window.client.log('beside', { round }), n)
    const isStored = await page.evaluate((round) => {
      window.client.log('last', { round })
      const stored = window.client.stored().then(() => true)
      const end = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), 50))
      return Promise.all([end, Promise.race([stored, end])]).then(([, isInTime]) => isInTime)
    }, n)
    if (!isStored) late.add(n)
    await logging
    await page.close({ runBeforeUnload: n % 2 === 0 })
  }
  const atClose = server.rows.size
  const last = await visit()
  await last.create()
  for (const { page } of [other, last]) {
    await until('nothing is left', async () => {
      const { left } = await page.evaluate(() => window.client.flush())
      return left === 0
    })
  }
  const all = [...server.rows.values()]
  const missingOf = (name: string) => {
    const found = new Set(
      all.filter(({ event }) => event === name).map((row) => row.params['round']),
    )
    return Array.from({ length: rounds }, (_, n) => n).filter((n) => !found.has(n))
  }
  const missing = missingOf('last')
  t.comment(
    `${rounds} rounds: ${atClose} rows before the last visit, ${server.repeats()} repeats, ` +
      `${late.size} not stored within 50 ms, ${missing.length} missing`,
  )
  const others = missing.filter((n) => !late.has(n))
  t.same(others, [], 'no event that was stored is missing')
  t.same(missingOf('beside'), [], 'nor one of the other tab')
})

t.test('the end of the page sends at most what a browser lets out', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create({ flushIntervalMs: 3_600_000 })
  await page.evaluate(async () => {
    window.client.log('first')
    await window.client.flush()
    for (let n = 0; n < 75; n++) {
      // The events of a user are a segment, and a full one would be sent at once.
      if (n % 25 === 0) window.client.identify(`user-${n}`)
      window.client.log('tap', { n, text: 'x'.repeat(900) })
    }
    await window.client.stored()
  })
  await page.goto(`${server.url}/empty`)
  await until('the last requests have arrived', () => server.batches.length === 4)
  const bytes = server.requests
    .slice(1)
    .reduce((sum, { body }) => sum + Buffer.byteLength(body as string), 0)
  t.ok(bytes > 50_000 && bytes <= 60_000, `${bytes} bytes`)
  await page.goto(`${server.url}/`)
  await create()
  await until('the rest has arrived', () => server.rows.size === 76)
})

t.test('a redirect is not followed, because the key would go along', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const redirecting = await startRedirecting(t, 307)
  const { page, create } = await visit()
  await create({ url: redirecting.url, flushIntervalMs: 10, retryMs: { min: 20, max: 20 } })
  await page.evaluate(() => window.client.log('tap'))
  await page.evaluate(() => window.client.feedback({ text: 'Good' }))
  await until('both were tried again', () => redirecting.redirected.length >= 6)
  t.same(await page.evaluate(() => window.client.shutdown({ timeoutMs: 0 })), { left: 2 })
  t.same(redirecting.followed, [])
  await page.goto(`${server.url}/`)
  await create()
  await until('both have arrived', () => server.rows.size + server.feedback.length === 2)
})

const withoutDatabase = {
  'cannot be opened': () => {
    IDBFactory.prototype.open = () => {
      throw new DOMException('forbidden', 'SecurityError')
    }
  },
  'cannot be read': () => {
    Object.defineProperty(globalThis, 'indexedDB', {
      get() {
        throw new DOMException('forbidden', 'SecurityError')
      },
    })
  },
}

for (const [reason, forbid] of Object.entries(withoutDatabase)) {
  t.test(`if IndexedDB ${reason}, events wait in memory`, { skip }, async (t) => {
    const { server, context, visit } = await startBrowser(t)
    await context.addInitScript(forbid)
    const { page, create } = await visit()
    await create()
    await page.evaluate(() => window.client.log('tap'))
    t.same(await page.evaluate(() => window.client.flush()), { left: 0 })
    t.equal(server.rows.size, 1)
    const errors: Error[] = []
    page.on('pageerror', (error) => errors.push(error))
    t.same(await page.evaluate(() => window.client.shutdown()), { left: 0 })
    t.same(errors, [])
  })
}

const closings = {
  // The browser asks the client to close the database.
  'because someone deletes it': (page: Page): Promise<unknown> =>
    page.evaluate(() => {
      return new Promise((resolve) => {
        indexedDB.deleteDatabase('intake.com.example.shop').onsuccess = resolve
      })
    }),
  // The browser closes the database without asking the client.
  'because its data are cleared': async (page: Page): Promise<void> => {
    const session = await page.context().newCDPSession(page)
    const { origin } = new URL(page.url())
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' })
  },
}

for (const [reason, close] of Object.entries(closings)) {
  t.test(`a database that is closed ${reason} is opened again`, { skip }, async (t) => {
    const { server, context, visit } = await startBrowser(t)
    const { page, create } = await visit()
    await context.setOffline(true)
    await create({ flushIntervalMs: 100 })
    await page.evaluate(async () => {
      window.client.log('before')
      await window.client.stored()
    })
    await close(page)
    // While the browser still deletes the data, the client keeps events in memory.
    await until('an event is in the new database', async () => {
      await page.evaluate(async () => {
        window.client.log('after')
        await window.client.stored()
      })
      const state = await context.storageState({ indexedDB: true })
      return JSON.stringify(state).includes('after')
    })
    await page.close()
    await context.setOffline(false)
    const next = await visit()
    await next.create()
    await until('it is a row', () => server.rows.size > 0)
    t.same(new Set(server.events()), new Set(['after']))
  })
}

t.test('clearing the data of a site blocks nothing', { skip }, async (t) => {
  const { server, context, visit } = await startBrowser(t)
  const ids: (string | undefined)[] = []
  // In about every third round Chromium ends a transaction of the client without an abort event.
  for (let round = 0; round < 4; round++) {
    const { page, create } = await visit()
    await context.setOffline(true)
    await create({ flushIntervalMs: 3_600_000, retryMs: { min: 20, max: 20 } })
    await page.evaluate(async () => {
      window.client.log('before')
      await window.client.stored()
    })
    await closings['because its data are cleared'](page)
    ids.push(
      await page.evaluate(async () => {
        const id = window.client.log('after')
        await window.client.stored()
        return id
      }),
    )
    await context.setOffline(false)
    t.same(await page.evaluate(() => window.client.flush({ timeoutMs: 60_000 })), { left: 0 })
    await page.close()
  }
  const others = ids.filter((id) => !server.rows.has(id!))
  t.same(others, [])
})

t.test('a response after shutdown changes nothing in storage', { skip }, async (t) => {
  const { server, context, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create({ flushIntervalMs: 3_600_000 })
  let hold = (_route: Route) => {}
  const held = new Promise<Route>((resolve) => (hold = resolve))
  await page.route('**/log/batch', (route) => hold(route))
  await page.evaluate(async () => {
    window.client.log('tap')
    await window.client.stored()
    void window.client.flush()
  })
  const route = await held
  t.same(await page.evaluate(() => window.client.shutdown({ timeoutMs: 0 })), { left: 1 })
  const state = await context.storageState({ indexedDB: true })
  t.match(JSON.stringify(state), 'tap')
  const finished = page.waitForEvent('requestfinished')
  await route.continue()
  await finished
  t.equal(server.rows.size, 1)
  // If the client writes something after the response, it does so before this request ends.
  await page.evaluate(() => fetch('/empty').then((response) => response.text()))
  t.same(await context.storageState({ indexedDB: true }), state)
})

t.test('a clock that goes back a little costs no event', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create({ flushIntervalMs: 3_600_000 })
  await page.evaluate(async () => {
    window.client.log('one')
    await window.client.stored()
    const now = Date.now
    Date.now = () => now() - 1500
    for (const event of ['two', 'three']) {
      window.client.log(event)
      await window.client.stored()
    }
  })
  await page.close({ runBeforeUnload: false })
  const next = await visit()
  await next.create()
  await until('all are rows', () => server.rows.size === 3)
  t.same(server.numbered(), [
    ['one', 1],
    ['two', 2],
    ['three', 3],
  ])
})

for (const delayMs of [5500, Infinity]) {
  t.test(
    `an IndexedDB that responds after ${delayMs} ms costs no event`,
    { skip, buffered: true },
    async (t) => {
      const { server, visit } = await startBrowser(t)
      const first = await visit()
      await first.create()
      await first.page.evaluate(() => window.client.log('before'))
      await until('it is a row', () => server.rows.size === 1)
      const { page, create } = await visit()
      await page.evaluate(
        (ms) => {
          const { open } = IDBFactory.prototype
          IDBFactory.prototype.open = function (name) {
            const request = open.call(this, name)
            Object.defineProperty(request, 'onsuccess', {
              set(run: () => void) {
                request.addEventListener('success', () => ms && setTimeout(run, ms))
              },
            })
            return request
          }
        },
        Number.isFinite(delayMs) ? delayMs : 0,
      )
      await create()
      await page.evaluate(() => {
        for (let i = 0; i < 10; i++) window.client.log('e', { i })
        window.dispatchEvent(new Event('online'))
        window.dispatchEvent(new Event('pagehide'))
      })
      await until('all are rows', () => server.rows.size === 11)
      t.same(await page.evaluate(() => window.client.stats().dropped), {})
      const devices = new Set([...server.rows.values()].map(({ batch }) => batch.device_uuid))
      t.equal(devices.size, delayMs === 5500 ? 1 : 2)
    },
  )
}

t.test('stats say that the browser may have blocked the request', { skip }, async (t) => {
  const { visit } = await startBrowser(t)
  // It has another origin, and answers no preflight request.
  const other = await startHttpIntake(t)
  const { page, create } = await visit()
  await create({ url: other.url, flushIntervalMs: 10 })
  await page.evaluate(() => window.client.log('tap'))
  const lastError = await until('the request has failed', () =>
    page.evaluate(() => window.client.stats().lastError),
  )
  t.match(lastError, {
    time: /^20.*Z$/,
    status: 0,
    code: 'http_0',
    message: / \(CORS\?\)$/,
  })
})

t.test('what is no image costs itself only', { skip }, async (t) => {
  const { server, visit } = await startBrowser(t)
  const { page, create } = await visit()
  await create()
  const dropped = await page.evaluate(async () => {
    const attachments = ['a path', {}, Uint8Array.of(1), new Blob(['b'])] as Blob[]
    await window.client.feedback({ text: 'It broke.', attachments })
    await window.client.flush()
    return window.client.stats().dropped
  })
  t.same(dropped, { invalid_attachment: 2 })
  t.match(server.feedback[0]?.attachments, [{ text: '\u0001' }, { text: 'b' }])
})
