// Finds the ClickHouse engine for npm start, before anything is installed. The lock has the engine
// of some kinds of machines only. On the others, npm start installs the same version beside the
// lock, or runs a `clickhouse` of this machine. This module imports only Node's own modules.
import { execFileSync } from 'node:child_process'
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { fail, root } from './bootstrap.mjs'

const registryMs = 60_000
const installMs = 10 * 60_000
const engine = /^ {2}'(@chdb\/lib-[^@]+)@([^']+)':$/gm

/** Says where the engine of a machine comes from. Throws if there is none. */
export function findEngine({ platform, arch, path, lock, isPublished }) {
  const locked = [...lock.matchAll(engine)]
  const name = `@chdb/lib-${platform}-${arch}${platform === 'linux' ? '-gnu' : ''}`
  if (locked.some(([, one]) => one === name)) return { kind: 'locked' }
  const program = path
    .split(delimiter)
    .map((folder) => join(folder, 'clickhouse'))
    .find(isExecutable)
  if (program !== undefined) return { kind: 'program', path: program }
  const version = locked[0]?.[2]
  if (version !== undefined && isPublished(`${name}@${version}`))
    return { kind: 'installed', name, version }
  throw new Error(
    `npm start has no ClickHouse for ${platform} on ${arch}: the registry has no ${name}@${version}, and no clickhouse is on the PATH. ` +
      'Install ClickHouse, set CLICKHOUSE_URL, or run everything in containers: docker compose up --build',
  )
}

/**
 * Finds the engine of this machine, unless CLICKHOUSE_URL replaces it. Resolves to a function that
 * installs what is missing; call it when the dependencies are installed. Exits with one sentence if
 * there is no engine.
 */
export function prepareEngine() {
  const { env, platform, arch } = process
  if (env.CLICKHOUSE_URL || env.CLICKHOUSE_URL_FILE || env.CLICKHOUSE_SERVER) return () => {}
  try {
    const found = findEngine({
      platform,
      arch,
      path: env.PATH ?? '',
      lock: readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8'),
      isPublished: isInRegistry,
    })
    if (found.kind === 'program') {
      console.error(`This machine's engine is not in the lock: ClickHouse is ${found.path}`)
      env.CLICKHOUSE_SERVER = found.path
    }
    return found.kind === 'installed' ? () => installEngine(found) : () => {}
  } catch (error) {
    fail(error.message)
  }
}

/** Installs an engine where `chdb` looks for it, and checks that `chdb` finds it. npm checks its hash. */
function installEngine({ name, version }) {
  const chdb = createRequire(join(root, 'tools/local/package.json')).resolve('chdb/package.json')
  const folder = join(chdb, '../..', name)
  if (existsSync(join(folder, 'package.json'))) return
  console.error(`Installing ${name}@${version}, the engine of this machine, beside the lock ...`)
  mkdirSync(folder, { recursive: true })
  try {
    const options = ['--silent', '--pack-destination', folder]
    const packed = run('npm', ['pack', ...options, `${name}@${version}`], installMs).trim()
    run('tar', ['-x', '-z', '-f', join(folder, packed), '-C', folder, '--strip-components=1'])
    rmSync(join(folder, packed))
    const check =
      "import('chdb/libchdb').then(({ libchdbPath }) => require('node:fs').accessSync(libchdbPath()))"
    execFileSync(process.execPath, ['--eval', check], {
      cwd: join(root, 'tools/local'),
      timeout: registryMs,
    })
  } catch (error) {
    // Half an engine would look like a whole one at the next start.
    rmSync(folder, { recursive: true, force: true })
    fail(`${name}@${version} could not be installed: ${error.message}`)
  }
}

function isInRegistry(spec) {
  try {
    return run('npm', ['view', spec, 'dist.integrity']).trim() !== ''
  } catch {
    return false
  }
}

function run(command, args, timeout = registryMs) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout,
  })
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
