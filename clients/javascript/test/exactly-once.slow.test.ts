import t from 'tap'
import { findChromium } from '@intake/test-kit/chromium'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { createProcessDriver } from '../adapters/process-driver.ts'
import { startClientProcess } from '../adapters/start-process.ts'
import { createWebDriver, pageFiles } from '../adapters/web-driver.ts'
import { checkExactlyOnce } from './through-faults.ts'

t.test('360 events become as many rows, each once', async (t) => {
  const dataDir = createDataDir(t)
  const stack = await startStack(t, { dataDir, env: { RATE_LIMIT_MAX: '1000000' } })
  const files = await pageFiles()
  for (const platform of ['node', 'react-native', 'web'] as const) {
    const skip = platform === 'web' && findChromium() === undefined && 'there is no Chromium'
    await t.test(platform, { skip }, async (t) => {
      await checkExactlyOnce(t, {
        platform,
        stack,
        dataDir,
        events: 360,
        files,
        createDriver: (url) =>
          platform === 'web'
            ? createWebDriver(() => url)
            : createProcessDriver(platform, () => startClientProcess(`${platform}-process.ts`)),
      })
    })
  }
})
