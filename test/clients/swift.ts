import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startStack } from '@intake/test-kit/running-stack'
import { until } from '@intake/test-kit/until'
import { aimed, quickStartBlocks } from '../../gateway/test/openapi/quick-start.ts'
import { createProcessDriver } from '../../clients/javascript/adapters/process-driver.ts'
import { serveDriver } from '../../clients/javascript/adapters/serve-driver.ts'
import { timeOfUuid } from '../../clients/javascript/src/core/uuid.ts'
import { startHttpIntake } from '../../clients/javascript/test/node/http-intake.ts'
import { startRedirecting } from '../../clients/javascript/test/node/redirecting.ts'
import { checkExactlyOnce } from '../../clients/javascript/test/through-faults.ts'
import { runConformance } from '../../clients/conformance/src/index.ts'
import {
  buildDriven,
  packageDir,
  programCommand,
  programPath,
  runSwift,
  startDrivenProcess,
} from './swift/toolchain.ts'

const dayMs = 86_400_000
const program = await buildDriven()
const createDriver = () => createProcessDriver('swift', () => startDrivenProcess(program), [])
const options = (url: string, storage: string) => ({
  url,
  storage,
  apiKey: 'ik_test',
  bundleIdentifier: 'com.example.app',
})

t.test('the tests of the package pass', async (t) => {
  const output = await runSwift(packageDir, 'test')
  const [, count] = /'All tests' passed[^]*?Executed ([1-9]\d*) tests, with 0/.exec(output) ?? []
  t.ok(count, output.slice(-2000))
  t.comment(`${count} tests of the package`)
})

t.test('the quick start runs in a package of its own', async (t) => {
  const server = await startHttpIntake(t)
  const dir = createDataDir(t)
  const [block = ''] = quickStartBlocks('swift', /intake\.log/)
  const main = aimed(block, { url: server.url, apiKey: 'ik_test' })
  mkdirSync(join(dir, 'Sources'))
  writeFileSync(join(dir, 'Sources/main.swift'), `${main}await intake.shutdown()\n`)
  writeFileSync(
    join(dir, 'Package.swift'),
    `// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "App",
  platforms: [.macOS(.v12)],
  dependencies: [.package(path: "${packageDir}")],
  targets: [
    .executableTarget(
      name: "App", dependencies: [.product(name: "Intake", package: "${basename(packageDir)}")], path: "Sources")
  ]
)
`,
  )
  await runSwift(dir, 'build')
  const env = { ...process.env, HOME: dir, XDG_DATA_HOME: dir }
  await promisify(execFile)(...programCommand(await programPath(dir, 'App')), { env })
  t.match([...server.rows.values()], [{ event: 'screen_view', params: { screen: 'home' } }])
  t.match(JSON.parse(server.feedback[0]?.payload ?? '{}'), { feedback: { text: 'It broke.' } })
})

t.test('the client passes every case of the conformance suite', async (t) => {
  const adapter = await serveDriver(createDriver())
  t.teardown(() => adapter.close())
  const { results } = await runConformance({ adapter: adapter.url })
  for (const { title, outcome, seen, requests } of results) {
    // A process is no page that closes, and its files respond.
    const isNeedless = /clos(es|ed|ing) page|page closed|storage (never )?responds/.test(title)
    t.equal(
      outcome,
      isNeedless ? 'not applicable' : 'passed',
      [title, seen, ...requests].join('\n'),
    )
  }
})

t.test('10,000 events become as many rows, each once', async (t) => {
  const dataDir = createDataDir(t)
  const stack = await startStack(t, { dataDir, env: { RATE_LIMIT_MAX: '1000000' } })
  await checkExactlyOnce(t, { platform: 'swift', stack, dataDir, events: 10_000, createDriver })
})

t.test(
  'a host that is never reached costs at most 4 MB of storage and 10 MB of memory',
  async (t) => {
    const storage = createDataDir(t)
    const client = startDrivenProcess(program)
    t.teardown(() => client.kill())
    const memory = async () =>
      (await client.call<{ residentBytes: number }>('memory')).residentBytes
    await client.call('init', options('http://127.0.0.1:9', storage))
    await client.call('logs', 0, 100, 'warm')
    await client.call('flush', 1000)
    const before = await memory()
    const seen: number[] = []
    for (let from = 0; from < 100_000; from += 5000) {
      await client.call('logs', from, 5000, 'tap'.padEnd(200, '-'))
      seen.push(await memory())
    }
    const bytes = readdirSync(storage).reduce(
      (sum, name) => sum + statSync(join(storage, name)).size,
      0,
    )
    const stats = await client.call<{ pending: { logs: number }; dropped: Record<string, number> }>(
      'stats',
    )
    const grown = Math.max(...seen) - before
    t.ok(bytes <= 4_000_000, `${bytes} bytes stored`)
    t.ok(grown <= 10_000_000, `${grown} bytes of memory`)
    t.ok(stats.pending.logs <= 5000, `${stats.pending.logs} events wait`)
    t.equal(stats.pending.logs + stats.dropped['queue_full']!, 100_100)
    t.comment(`${bytes} bytes stored, ${grown} bytes of resident memory more`)
  },
)

for (const aheadMs of [3 * dayMs, -3 * dayMs]) {
  t.test(
    `events of a clock that is wrong by ${aheadMs / dayMs} days get the right time`,
    async (t) => {
      const server = await startHttpIntake(t)
      const client = startDrivenProcess(program)
      t.teardown(() => client.kill())
      // The events of the first user are sent before the client knows the server's clock.
      const init = {
        ...options(server.url, createDataDir(t)),
        userId: 'first',
        flushIntervalMs: 3_600_000,
      }
      await client.call('init', { ...init, aheadMs })
      await client.call('logs', 0, 1, 'attempted')
      await client.call('identify', 'second')
      const began = Date.now()
      await client.call('logs', 0, 100, 'never attempted')
      const ended = Date.now()
      await until('everything is sent', async () => {
        return (await client.call<{ left: number }>('flush', 5000)).left === 0
      })
      const rows = [...server.rows.values()].filter(({ event }) => event === 'never attempted')
      t.equal(rows.length, 100)
      const errors = rows.map(({ id }) =>
        Math.max(0, began - timeOfUuid(id), timeOfUuid(id) - ended),
      )
      t.ok(Math.max(...errors) < 5000, `at most ${Math.max(...errors)} ms wrong`)
      t.comment(`at most ${Math.max(...errors)} ms wrong`)
    },
  )
}

t.test('the key does not go along with a redirect', async (t) => {
  const redirecting = await startRedirecting(t, 307)
  const client = startDrivenProcess(program)
  t.teardown(() => client.kill())
  await client.call('init', options(redirecting.url, createDataDir(t)))
  await client.call('logs', 0, 1, 'tap')
  t.same(await client.call('flush', 500), { left: 1 })
  t.same(redirecting.redirected, ['/api/log/batch'])
  t.same(redirecting.followed, [])
})

t.test('two processes with one directory send every event once', async (t) => {
  const server = await startHttpIntake(t)
  const storage = createDataDir(t)
  const processes = [startDrivenProcess(program), startDrivenProcess(program)]
  t.teardown(() => Promise.all(processes.map((one) => one.kill())))
  for (const one of processes) await one.call('init', options(server.url, storage))
  await Promise.all(processes.map((one) => one.call('logs', 0, 700, 'tap')))
  for (const one of processes) t.same(await one.call('flush', 60_000), { left: 0 })
  const sequences = [...server.rows.values()].map(({ sequence }) => sequence)
  t.equal(server.rows.size, 1400)
  t.equal(server.repeats(), 0)
  t.equal(new Set(sequences).size, 1400, 'under numbers of their own')
})

t.test('log costs at most 20 microseconds', async (t) => {
  const { stdout } = await promisify(execFile)(...programCommand(program, 'cost'))
  const [, median] = /log\(\): median ([\d.]+) µs/.exec(stdout) ?? []
  t.ok(Number(median) <= 20, stdout)
  t.comment(stdout)
})
