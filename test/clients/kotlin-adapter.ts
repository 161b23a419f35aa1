// Starts the adapter of the Kotlin client for the conformance suite, and prints its URL.
import { serveDriver } from '../../clients/javascript/adapters/serve-driver.ts'
import { buildKotlin } from './kotlin-build.ts'
import { createKotlinDriver } from './kotlin-driver.ts'

await buildKotlin('-q', 'test-compile')
const { url, close } = await serveDriver(createKotlinDriver())
console.log(url)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void close().then(() => process.exit()))
