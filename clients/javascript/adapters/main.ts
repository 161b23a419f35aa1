// The adapter for the conformance suite. Its argument chooses the client: `web`, `node`,
// `react-native` or `hermes`. `hermes` is the client for React Native in the Hermes engine; the
// environment variable `HERMES` is the path of the engine.
import { compileForHermes, startHermesProcess } from './hermes-process.ts'
import { createProcessDriver } from './process-driver.ts'
import { serveDriver } from './serve-driver.ts'
import { startClientProcess } from './start-process.ts'
import type { Driver } from './driver.ts'
import { createWebDriver, pageFiles } from './web-driver.ts'

const [platform] = process.argv.slice(2)
let site = ''
const isWeb = platform === 'web'
const driver = await createDriver()
const { url, close } = await serveDriver(driver, isWeb ? await pageFiles() : undefined)
site = url
console.log(url)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void close().then(() => process.exit()))

async function createDriver(): Promise<Driver> {
  switch (platform) {
    case 'web':
      return createWebDriver(() => site)
    case 'node':
      return createProcessDriver(platform, () => startClientProcess('node-process.ts'))
    case 'react-native':
      return createProcessDriver(platform, () => startClientProcess('react-native-process.ts'), [
        'storageHangs',
        'device',
      ])
    case 'hermes': {
      const engine = process.env['HERMES']
      if (engine === undefined) throw new Error('HERMES must be the path of the engine')
      const code = await compileForHermes()
      return createProcessDriver(platform, () => startHermesProcess(engine, code), [
        'storageHangs',
        'device',
      ])
    }
    default:
      throw new Error('which client: web, node, react-native or hermes?')
  }
}
