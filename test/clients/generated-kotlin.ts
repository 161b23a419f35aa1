import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import {
  checkCalls,
  startCallees,
  type CallResults,
} from '../../gateway/test/openapi/four-calls.ts'
import { quickStartBlocks } from '../../gateway/test/openapi/quick-start.ts'
import { secret } from '../../gateway/test/support.ts'
import { runMaven } from './kotlin-build.ts'

const run = promisify(execFile)
const pathOf = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const generator = 'org.openapitools:openapi-generator-cli:7.25.0'
/** Java takes a minute or two on a busy machine. */
const options = { timeout: 9 * 60_000, maxBuffer: 64 * 1024 * 1024 }

const tools = createDataDir(t)
await runMaven(['-q', 'dependency:copy', `-Dartifact=${generator}`, `-DoutputDirectory=${tools}`])
const jar = join(tools, 'openapi-generator-cli-7.25.0.jar')

for (const library of ['moshi', 'gson']) {
  t.test(`a generated Kotlin client with ${library} reads and sends everything`, async (t) => {
    const { gateway, url, unlistedUrl, image } = await startCallees(t)
    const dir = createDataDir(t)
    const path = (name: string) => join(dir, name)
    const document = await fetch(`${url}/openapi.json`)
    writeFileSync(path('openapi.json'), await document.text())
    writeFileSync(path('screenshot.png'), image)
    const settings = ['--additional-properties', `serializationLibrary=${library}`]
    const generate = ['generate', '-i', path('openapi.json'), '-g', 'kotlin', '-o', path('intake')]
    await run('java', ['-jar', jar, ...generate, ...settings], options)

    const sources = path('intake/src/main/kotlin')
    copyFileSync(pathOf('kotlin/Calls.kt'), join(sources, 'Calls.kt'))
    const [block = ''] = quickStartBlocks('kotlin', /createLog/)
    mkdirSync(join(sources, 'quickstart'))
    writeFileSync(join(sources, 'quickstart/QuickStart.kt'), `package quickstart\n\n${block}`)
    await runMaven(['-q', '-f', pathOf('kotlin/pom.xml'), `-Dsources=${sources}`, 'compile'])

    const classes = `${join(sources, 'target/classes')}:${readFileSync(join(sources, 'classpath.txt'), 'utf8')}`
    const args = [url, unlistedUrl, secret, path('screenshot.png')]
    const { stdout } = await run('java', ['-cp', classes, 'CallsKt', ...args], options)
    const results = JSON.parse(stdout) as CallResults & { refusal: number }
    t.equal(results.refusal, 400, 'a refused request is told from a stored one')
    checkCalls(t, gateway, results)
  })
}
