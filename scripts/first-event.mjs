// Does what a developer types to get from an empty folder to a visible row: on the web, in Node and
// in Kotlin. Prints how long that takes. Starts its own stack. Packs the packages from this tree
// instead of downloading them.
//
// node scripts/first-event.mjs [web] [node] [kotlin]
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request as send } from 'node:http'
import { createServer as createPort } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { bootstrap, root } from './bootstrap.mjs'

const visibleWithinMs = 120_000
const wanted = process.argv.slice(2)
const hasMaven = spawnSync('which', ['java', 'mvn'], { stdio: 'ignore' }).status === 0
const platforms = wanted.length > 0 ? wanted : ['web', 'node', ...(hasMaven ? ['kotlin'] : [])]
if (!hasMaven) console.log('kotlin: skipped, there is no JDK or no Maven')
// Switches the daemon of the Kotlin compiler off, because it would keep running.
const mavenFlags = ['-q', '-B', '-Dkotlin.compiler.daemon=false']
const kotlinBuild = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>com.example</groupId>
  <artifactId>app</artifactId>
  <version>1</version>
  <properties>
    <kotlin.compiler.jvmTarget>17</kotlin.compiler.jvmTarget>
    <exec.mainClass>AppKt</exec.mainClass>
  </properties>
  <dependencies>
    <dependency>
      <groupId>intake</groupId>
      <artifactId>intake-client</artifactId>
      <version>0.1.0</version>
    </dependency>
  </dependencies>
  <build>
    <sourceDirectory>.</sourceDirectory>
    <plugins>
      <plugin>
        <groupId>org.jetbrains.kotlin</groupId>
        <artifactId>kotlin-maven-plugin</artifactId>
        <version>2.4.0</version>
        <executions>
          <execution>
            <goals>
              <goal>compile</goal>
            </goals>
          </execution>
        </executions>
      </plugin>
      <plugin>
        <groupId>org.codehaus.mojo</groupId>
        <artifactId>exec-maven-plugin</artifactId>
        <version>3.5.0</version>
      </plugin>
    </plugins>
  </build>
</project>
`

await bootstrap()
const { createClickHouse } = await import('../packages/clickhouse/dist/index.js')
const { readEndpoints } = await import('../packages/runtime/dist/endpoints.js')

const dir = mkdtempSync(join(tmpdir(), 'first-event-'))
const dataDir = join(dir, 'stack')
const stack = await startStack()
const { gateway, apiKey, clickhouse: clickhouseUrl } = readEndpoints(dataDir)
const clickhouse = createClickHouse({ url: clickhouseUrl })
try {
  const [packed] = JSON.parse(
    await run('npm', ['pack', '--json', '--pack-destination', dir], join(root, 'packages/client')),
  )
  for (const platform of platforms) {
    if (platform === 'kotlin') await installKotlin()
    await show(platform, join(dir, packed.filename))
  }
} finally {
  await clickhouse.close()
  stack.kill('SIGINT')
  await new Promise((resolve) => stack.once('exit', resolve))
  rmSync(dir, { recursive: true, force: true })
}

async function show(platform, packageFile) {
  const folder = mkdtempSync(join(dir, `${platform}-`))
  const bundle = `com.example.first-${platform}`
  const began = performance.now()
  const commands = []
  const type = async (command, ...args) => {
    commands.push([command, ...args].join(' ').replace(packageFile, '@intake/client'))
    await run(command, args, folder)
  }
  const write = (name, text) => {
    commands.push(`(write ${name}, ${text.trim().split('\n').length} lines)`)
    writeFileSync(join(folder, name), text)
  }
  if (platform !== 'kotlin') {
    await type('npm', 'init', '-y')
    await type('npm', 'install', '--no-audit', '--no-fund', packageFile)
  }
  if (platform === 'kotlin') {
    write('pom.xml', kotlinBuild)
    write('App.kt', kotlinApp(bundle))
    await type('mvn', ...mavenFlags, 'compile', 'exec:java')
  } else if (platform === 'node') {
    const app = `import { createIntake } from '@intake/client/node'
const intake = createIntake({ url: '${gateway}', apiKey: '${apiKey}', bundleIdentifier: '${bundle}', storage: './waiting' })
intake.log('started', { from: 'an empty folder' })
await intake.shutdown()
`
    write('app.mjs', app)
    await type('node', 'app.mjs')
  } else {
    const page = `<!doctype html><script type="module">
import { createIntake } from '/node_modules/@intake/client/dist/min.js'
const intake = createIntake({ url: '/i', apiKey: '${apiKey}', bundleIdentifier: '${bundle}' })
intake.log('opened', { from: 'an empty folder' })
</script>
`
    write('index.html', page)
    commands.push('(open it, from a site that has the gateway under /i/)')
    await visit(folder)
  }
  for (;;) {
    const [{ n }] = await clickhouse.query(
      `SELECT count() AS n FROM intake.logs WHERE bundle_identifier = '${bundle}'`,
    )
    if (Number(n) === 1) break
    if (performance.now() - began > visibleWithinMs) throw new Error(`${platform}: no row`)
    await pause(50)
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${platform}: ${commands.length} steps, ${seconds} s to a visible row`)
  for (const command of commands) console.log(`  ${command}`)
}

/**
 * Installs the Kotlin client into the local Maven repository, like `npm pack` and `npm install` do
 * for the npm package.
 */
async function installKotlin() {
  const project = join(root, 'clients/kotlin/pom.xml')
  await run('mvn', [...mavenFlags, '-f', project, 'install', '-DskipTests'], dir)
}

function kotlinApp(bundle) {
  return `import intake.client.Intake
import java.io.File

fun main() {
    val intake = Intake("${gateway}", "${apiKey}", "${bundle}", File("waiting"))
    intake.log("started", mapOf("from" to "an empty folder"))
    intake.shutdown().get()
}
`
}

/** Opens the page in Chromium. The page's server forwards the path `/i/` to the gateway. */
async function visit(folder) {
  const { chromium } = await import('playwright-core')
  const { findChromium } = await import('../test/kit/dist/chromium.js')
  const types = { '.html': 'text/html', '.js': 'text/javascript' }
  const server = createServer((request, response) => {
    if (request.url.startsWith('/i/')) {
      const { method, headers } = request
      const forwarded = send(gateway + request.url.replace('/i/', '/api/'), { method, headers })
      forwarded.once('response', (answer) => {
        response.writeHead(answer.statusCode, answer.headers)
        answer.pipe(response)
      })
      return request.pipe(forwarded)
    }
    const path = request.url === '/' ? '/index.html' : request.url
    const file = join(folder, path)
    const type = types[extname(path)] ?? 'text/plain'
    if (!existsSync(file)) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': type }).end(readFileSync(file))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('there is no Chromium')
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const page = await browser.newPage()
  const sent = page.waitForResponse((answer) => answer.url().endsWith('/log/batch'))
  await page.goto(`http://127.0.0.1:${server.address().port}/`)
  await sent
  await browser.close()
  server.closeAllConnections()
  server.close()
}

async function startStack() {
  const names = [
    'PORT',
    'GATEWAY_ADMIN_PORT',
    'WORKER_ADMIN_PORT',
    'REDIS_PORT',
    'CLICKHOUSE_PORT',
    'S3_PORT',
  ]
  const ports = await Promise.all(names.map(freePort))
  const child = spawn(process.execPath, [join(root, 'scripts/start.mjs')], {
    env: {
      ...process.env,
      INTAKE_DATA_DIR: dataDir,
      ...Object.fromEntries(names.map((name, index) => [name, String(ports[index])])),
    },
    stdio: 'ignore',
  })
  const ended = new Promise((_, reject) =>
    child.once('exit', () => reject(new Error('the stack ended'))),
  )
  ended.catch(() => undefined)
  while (readEndpoints(dataDir) === undefined) await Promise.race([pause(100), ended])
  return child
}

function freePort() {
  return new Promise((resolve) => {
    const server = createPort().listen(0, '127.0.0.1', () => {
      const { port } = server.address()
      server.close(() => resolve(port))
    })
  })
}

function run(command, args, cwd) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (text) => (output += text))
    child.once('error', reject)
    child.once('exit', (code) =>
      code === 0 ? resolve(output) : reject(new Error(`${command} ${args[0]} exited with ${code}`)),
    )
  })
}
