// The adapter of one of the clients, for the conformance suite: `web`, `node` or `react-native`.
import { createProcessDriver } from './process-driver.ts'
import { serveDriver } from './serve-driver.ts'
import { startClientProcess } from './start-process.ts'
import { createWebDriver, pageFiles } from './web-driver.ts'

const [platform] = process.argv.slice(2)
if (platform !== 'web' && platform !== 'node' && platform !== 'react-native')
  throw new Error('which client: web, node or react-native?')
let site = ''
const isWeb = platform === 'web'
const driver = isWeb
  ? await createWebDriver(() => site)
  : createProcessDriver(platform, () => startClientProcess(`${platform}-process.ts`))
const { url, close } = await serveDriver(driver, isWeb ? await pageFiles() : undefined)
site = url
console.log(url)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void close().then(() => process.exit()))
