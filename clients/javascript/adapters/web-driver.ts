import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { findChromium } from '@intake/test-kit/chromium'
import { bundleEntry } from './bundle.ts'
import type * as web from '../src/web/index.ts'
import type { Driver, InitOptions } from './driver.ts'

/** The globals that functions running in the page can use. */
declare const window: PageWindow
declare const IDBObjectStore: { prototype: { put(): void } }
declare const IDBFactory: {
  prototype: { open(name: string): EventTarget & { onsuccess: unknown } }
}

export interface PageWindow {
  IntakeClient: typeof web
  client: ReturnType<PageWindow['IntakeClient']['createIntake']>
  aheadMs: number
}

export const pageFiles = async (): Promise<Map<string, { type: string; body: string }>> =>
  new Map([
    ['/page', { type: 'text/html', body: '<!doctype html><script src="/client.js"></script>' }],
    ['/empty', { type: 'text/html', body: '<!doctype html>' }],
    [
      '/client.js',
      {
        type: 'text/javascript',
        body: await bundleEntry('web', { minify: true, globalName: 'IntakeClient' }),
      },
    ],
  ])

/** Runs in the page: makes what the case wants to fail fail, and creates the client. */
function startClient(how: {
  given: web.WebOptions
  ahead: number
  isFull: boolean
  failsMs: number
  hangsMs: number
}): void {
  const { given, ahead, isFull, failsMs, hangsMs } = how
  const now = Date.now
  window.aheadMs = ahead
  Date.now = () => now() + window.aheadMs
  if (isFull)
    IDBObjectStore.prototype.put = () => {
      throw new DOMException('full', 'QuotaExceededError')
    }
  const { open } = IDBFactory.prototype
  const began = performance.now()
  IDBFactory.prototype.open = function (name) {
    if (performance.now() < began + failsMs) throw new DOMException('', 'UnknownError')
    const request = open.call(this, name)
    Object.defineProperty(request, 'onsuccess', {
      set(run: () => void) {
        request.addEventListener('success', () => {
          setTimeout(run, Math.max(0, began + hangsMs - performance.now()))
        })
      },
    })
    return request
  }
  window.client = window.IntakeClient.createIntake(given)
}

/** The calls that the page's client takes as they are. */
const callsOf = (
  running: () => Page,
): Pick<Driver, 'log' | 'logs' | 'feedback' | 'flush' | 'state' | 'optOut' | 'optIn'> => ({
  log: (event, params) =>
    running().evaluate(
      async (given) => {
        const id = window.client.log(given.event, given.params as Record<string, unknown>)
        await window.client.stored()
        return id === undefined ? {} : { id }
      },
      { event, params },
    ),
  logs: (count, event) =>
    running().evaluate(
      async (given) => {
        for (let n = 0; n < given.count; n++) window.client.log(given.event, { n })
        await window.client.stored()
        return { stored: given.count }
      },
      { count, event },
    ),
  feedback: (text, email, attachments) =>
    running().evaluate(
      async ({ files, ...feedback }) => {
        const images = files.map(({ base64, name, type }) => {
          const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
          return new File([bytes], name, { type })
        })
        return window.client.feedback({ ...feedback, attachments: images })
      },
      { text, email, files: attachments },
    ),
  flush: (timeoutMs) =>
    running().evaluate((ms) => window.client.flush({ timeoutMs: ms }), timeoutMs),
  state: () => running().evaluate(() => window.client.stats()),
  optOut: () => running().evaluate(() => window.client.optOut()),
  optIn: () => running().evaluate(() => window.client.optIn()),
})

/**
 * Drives a client in a page of Chromium. `kill` crashes the page. The storage survives a crash,
 * because it belongs to the browser context.
 */
export async function createWebDriver(site: () => string): Promise<Driver> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no Chromium')
  const browser: Browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  let context: BrowserContext | undefined
  let page: Page | undefined

  function running(): Page {
    if (page === undefined) throw new Error('it was not started')
    return page
  }

  async function kill(): Promise<void> {
    const killed = page
    page = undefined
    if (killed === undefined) return
    const crashed = killed.waitForEvent('crash')
    const session = await killed.context().newCDPSession(killed)
    void session.send('Page.crash').catch(() => undefined)
    await crashed
    await killed.close()
  }

  return {
    name: 'web',
    capabilities: [
      'feedback',
      'batch',
      'clock',
      'pageEnd',
      'bounds',
      'storageFull',
      'storageFails',
      'storageHangs',
      'optOut',
      'leavesOut',
      'device',
    ],
    async init(init: InitOptions) {
      const { clockOffsetMs = 0, storageFull = false, ...rest } = init
      const { storageFailsMs = 0, storageHangsMs = 0, ...options } = rest
      await kill()
      context ??= await browser.newContext()
      page = await context.newPage()
      await page.goto(`${site()}/page`)
      await page.evaluate(startClient, {
        given: options,
        ahead: clockOffsetMs,
        isFull: storageFull,
        failsMs: storageFailsMs,
        hangsMs: storageHangsMs,
      })
    },
    async clock(offsetMs) {
      await running().evaluate((ms) => {
        window.aheadMs = ms
      }, offsetMs)
    },
    ...callsOf(running),
    kill,
    async pageEnd() {
      const ended = running()
      page = undefined
      await ended.goto(`${site()}/empty`)
      await ended.close()
    },
    async clear() {
      await kill()
      await context?.close()
      context = undefined
    },
    close: () => browser.close(),
  }
}
