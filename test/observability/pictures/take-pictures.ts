import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { readDashboards } from '../files.ts'
import type { Prometheus, Range } from '../prometheus.ts'
import { dashboardPage } from './page.ts'

const widthPx = 1400
const launchMs = 300_000

/**
 * Draws each dashboard with the data of a range into `<folder>/dashboard-<name>.png`.
 *
 * @returns the files
 */
export async function takePictures(options: {
  executablePath: string
  prometheus: Prometheus
  range: Range
  folder: string
}): Promise<string[]> {
  const { executablePath, prometheus, range, folder } = options
  mkdirSync(folder, { recursive: true })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox'],
    timeout: launchMs,
  })
  try {
    const context = await browser.newContext({ viewport: { width: widthPx, height: 800 } })
    context.setDefaultTimeout(launchMs)
    const files: string[] = []
    for (const [name, dashboard] of readDashboards()) {
      const path = join(folder, `dashboard-${name}.png`)
      const tab = await context.newPage()
      const errors: string[] = []
      tab.on('pageerror', (error) => errors.push(error.message))
      await tab.setContent(await dashboardPage(dashboard, { prometheus, range }))
      if (errors.length > 0) throw new Error(`${name}: ${errors.join(', ')}`)
      await tab.screenshot({ path, fullPage: true })
      await tab.close()
      files.push(path)
    }
    return files
  } finally {
    await browser.close()
  }
}
