import { chromium, type Browser } from 'playwright-core'
import type { Test } from 'tap'
import { findChromium } from '@intake/test-kit/chromium'

const timeout = 5 * 60_000

/** Returns undefined, and skips the test, if there is no Chromium. */
export async function startBrowser(t: Test): Promise<Browser | undefined> {
  const executablePath = findChromium()
  if (executablePath === undefined) {
    const skip = 'there is no Chromium; install it, or set CHROMIUM to its path'
    t.pass(`skipped: ${skip}`, { skip })
    return undefined
  }
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'], timeout })
  t.teardown(() => browser.close())
  return browser
}

/**
 * Opens a tab that records dialogs, console messages, errors of scripts and requests to other
 * origins.
 */
export async function openTab(
  t: Test,
  browser: Browser,
  options: {
    url: string
    width: number
    javaScriptEnabled?: boolean
  },
) {
  const { url, width, javaScriptEnabled = true } = options
  const context = await browser.newContext({
    viewport: { width, height: 800 },
    javaScriptEnabled,
    reducedMotion: 'reduce',
  })
  t.teardown(() => context.close())
  const tab = await context.newPage()
  tab.setDefaultTimeout(timeout)
  const incidents: string[] = []
  tab.on('console', (message) => incidents.push(`console: ${message.text()}`))
  tab.on('dialog', (dialog) => {
    incidents.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  tab.on('pageerror', (error) => incidents.push(`script: ${error.message}`))
  tab.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) incidents.push(`request: ${request.url()}`)
  })
  return { tab, incidents, context }
}
