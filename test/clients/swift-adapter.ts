// Starts the adapter of the Swift client for the conformance suite, and prints its URL.
import { createProcessDriver } from '../../clients/javascript/adapters/process-driver.ts'
import { serveDriver } from '../../clients/javascript/adapters/serve-driver.ts'
import { buildDriven, startDrivenProcess } from './swift/toolchain.ts'

const program = await buildDriven()
const driver = createProcessDriver('swift', () => startDrivenProcess(program), [])
const { url, close } = await serveDriver(driver)
console.log(url)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void close().then(() => process.exit()))
