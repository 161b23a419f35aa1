import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { fetchPnpm } from '../tools/scripts/pnpm.mjs'

const pathOf = (name: string) => fileURLToPath(new URL(`../${name}`, import.meta.url))

t.test('a package of pnpm with another hash is not used', async (t) => {
  const folder = t.testdir()
  const { packageManager } = JSON.parse(readFileSync(pathOf('package.json'), 'utf8')) as {
    packageManager: string
  }
  t.match(fetchPnpm(folder), /pnpm-[\d.]+\.tgz$/)

  const manifest = join(folder, 'package.json')
  const write = (text: string) => writeFileSync(manifest, JSON.stringify({ packageManager: text }))
  const last = packageManager.endsWith('0') ? '1' : '0'
  write(packageManager.slice(0, -1) + last)
  t.throws(() => fetchPnpm(join(folder, 'other'), manifest), /does not have the hash/)
  t.same(readdirSync(join(folder, 'other')), [], 'it is removed')
  write(packageManager.replace(/\+.*/, ''))
  t.throws(() => fetchPnpm(folder, manifest), /needs a version and a hash/)
})

t.test('if npm cannot fetch pnpm, npm and one sentence say why', async (t) => {
  const bootstrap = new URL('../tools/scripts/bootstrap.mjs', import.meta.url).href
  const program = `(await import(${JSON.stringify(bootstrap)})).pnpm()`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', program],
    {
      env: { PATH: process.env['PATH'], npm_config_cache: t.testdir(), npm_config_offline: 'true' },
      encoding: 'utf8',
    },
  )
  t.equal(status, 1)
  t.match(stderr, /ENOTCACHED/)
  t.match(stderr, /^pnpm, which installs the dependencies, could not be fetched: .*pnpm@/m)
  t.notMatch(stderr, /^ {4}at /m)
})

t.test('whatever runs pnpm has its hash checked', async (t) => {
  for (const name of [
    'deploy/Dockerfile',
    'deploy/check-images.sh',
    '.github/workflows/ci.yml',
    'tools/scripts/bootstrap.mjs',
  ]) {
    const text = readFileSync(pathOf(name), 'utf8')
    t.match(text, 'pnpm.mjs', name)
    t.notMatch(text, /packageManager/, name)
  }
})
