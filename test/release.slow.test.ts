// Everything that a release publishes for developers works in an empty folder: without a clone, a
// registry or what the clone has installed.
import { execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import t, { type Test } from 'tap'
import { parse } from 'yaml'
import { createSandbox } from '@intake/sandbox'
import { createDataDir } from '@intake/test-kit/data-dir'
import { ownClickHouse, ownRedis, ownS3 } from '@intake/test-kit/own-services'
import { postLog } from '@intake/test-kit/post'
import { startSender } from '../clients/conformance/test/support.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../tools/scripts/release.mjs', import.meta.url))
const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string }

const release = join(createDataDir(t), 'release')
const fill = ['--local', '--without-kotlin', '--to', release]
await run(process.execPath, [script, ...fill], { timeout: 300_000 })
const tarball = (name: string) => join(release, `${name}-${version}.tgz`)

/** Returns a folder that has only this tarball, and an environment whose npm reaches no registry and has no cache. */
function folderWith(t: Test, name: string) {
  const cwd = createDataDir(t)
  cpSync(tarball(name), join(cwd, `${name}.tgz`))
  const env = {
    PATH: process.env['PATH'],
    HOME: cwd,
    npm_config_cache: join(cwd, '.npm'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  return { cwd, env, timeout: 120_000 }
}

t.test('the folder has every part, and the checksums are right', async (t) => {
  const names = readdirSync(release)
  const tarballs = ['chart', 'cli', 'client', 'compose', 'conformance', 'sandbox']
  t.same(names.filter((name) => !name.startsWith('.')).toSorted(), [
    'SHA256SUMS',
    'deploy',
    'docker-compose.yml',
    ...tarballs.map((name) => `intake-${name}-${version}.tgz`),
    'migrations',
    'openapi.json',
    'sbom.cdx.json',
  ])
  t.notMatch(readFileSync(join(release, 'openapi.json'), 'utf8'), 'undefined')
  const bill = readFileSync(join(release, 'sbom.cdx.json'), 'utf8')
  for (const name of ['fastify', 'bullmq', 'sharp', 'commander']) t.match(bill, `"name": "${name}"`)
  const sums = readFileSync(join(release, 'SHA256SUMS'), 'utf8').trim().split('\n')
  t.equal(sums.length, tarballs.length + 3)
  for (const [hash, name = ''] of sums.map((line) => line.split('  '))) {
    const content = readFileSync(join(release, name))
    t.equal(createHash('sha256').update(content).digest('hex'), hash, name)
  }
})

t.test('docker-compose.yml builds nothing, and what it mounts is beside it', async (t) => {
  interface Compose {
    services: Record<string, { image?: string; build?: unknown; volumes?: string[] }>
  }
  const compose = parse(readFileSync(join(release, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as Compose
  const { stdout } = await run('tar', ['-t', '-z', '-f', tarball('intake-compose')])
  const packed = new Set(stdout.split('\n').map((line) => line.replace(/\/$/, '')))
  for (const [name, { image, build: recipe, volumes = [] }] of Object.entries(compose.services)) {
    t.equal(recipe, undefined, name)
    t.ok(image, name)
    for (const volume of volumes.filter((one) => one.startsWith('./'))) {
      t.ok(packed.has(volume.slice(2).split(':')[0] ?? ''), volume)
    }
  }
  t.match(compose.services['gateway']?.image, new RegExp(`/intake-gateway:${version}$`))
})

t.test('the chart has its linked files', async (t) => {
  const { stdout } = await run('tar', ['-t', '-v', '-z', '-f', tarball('intake-chart')])
  t.notMatch(stdout, / -> /)
  t.match(stdout, 'intake/files/dashboards/overview.json')
})

t.test('the client: npm install, a Node script, and a bundle for the web', async (t) => {
  const sandbox = await createSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const folder = folderWith(t, 'intake-client')
  const { cwd } = folder
  await run('npm', ['install', '--no-audit', '--no-fund', './intake-client.tgz'], folder)
  const options = `{ url: '${sandbox.url}', apiKey: '${sandbox.apiKey}', bundleIdentifier: 'com.example.app' }`
  writeFileSync(
    join(cwd, 'send.mjs'),
    `import { createIntake } from '@intake/client/node'
const intake = createIntake(${options})
intake.log('installed')
await intake.shutdown()
`,
  )
  await run(process.execPath, ['send.mjs'], folder)
  const stored = await fetch(`${sandbox.url}/_sandbox/records?min=1&timeoutMs=5000`)
  t.match(await stored.json(), { records: [{ event: 'installed' }] })

  writeFileSync(
    join(cwd, 'page.js'),
    `import { createIntake } from '@intake/client'
createIntake(${options}).log('opened')
`,
  )
  const { outputFiles } = await build({
    absWorkingDir: cwd,
    entryPoints: ['page.js'],
    bundle: true,
    write: false,
    format: 'esm',
  })
  t.match(outputFiles[0]?.text, 'indexedDB')
})

t.test('npx runs the sandbox', async (t) => {
  const folder = folderWith(t, 'intake-sandbox')
  const args = ['--yes', './intake-sandbox.tgz', '--port', '0']
  // A process group of its own, because npx does not pass signals on.
  const npx = spawn('npx', args, {
    ...folder,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(npx, 'exit')
  t.teardown(async () => {
    if (npx.exitCode === null) process.kill(-npx.pid!, 'SIGTERM')
    await ended
  })
  const [line] = (await once(createInterface(npx.stdout), 'line')) as [string]
  const [, url = '', key = ''] = /^Intake sandbox at (\S+) with the API key (\w+)$/.exec(line) ?? []
  t.equal((await postLog({ url, apiKey: key }, { event: 'tap' })).status, 201)
  t.match(await (await fetch(`${url}/_sandbox/records`)).json(), { records: [{ event: 'tap' }] })
})

t.test('npx runs the conformance suite', async (t) => {
  const adapter = await startSender(t)
  const args = ['--yes', './intake-conformance.tgz', '--adapter', adapter]
  const only = ['--only', 'keeps the id over a retry']
  const { stdout } = await run('npx', [...args, ...only], folderWith(t, 'intake-conformance'))
  t.match(stdout, /javascript: 1 passed, 0 failed/)
})

t.test('npx runs the command line', async (t) => {
  const [redis, clickhouse, s3] = await Promise.all([ownRedis(t), ownClickHouse(t), ownS3(t)])
  const folder = folderWith(t, 'intake-cli')
  const env = {
    ...folder.env,
    REDIS_URL: redis.url,
    CLICKHOUSE_URL: clickhouse.url,
    S3_ENDPOINT: s3.url,
  }
  const intake = async (...args: string[]) =>
    (await run('npx', ['--yes', './intake-cli.tgz', ...args], { ...folder, env })).stdout
  // Reads the migrations, which travel with the program.
  t.match(await intake('setup'), /^applied 0001-[^]*\nIntake is set up\.\n$/)
  t.match(await intake('keys', 'create', '--name', 'iOS'), /ik_/)
})
