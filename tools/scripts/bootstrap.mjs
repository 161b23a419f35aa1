// Installs the dependencies of a fresh clone and builds it, so that the built code can run. Does
// almost nothing if the dependencies and the build are up to date. This module and what
// it imports use only Node's own modules, because it may run before anything is installed.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fetchPnpm } from './pnpm.mjs'

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')

const stampFile = join(root, 'node_modules', '.cache', 'intake', 'installed')
const builtProjects = [
  'gateway',
  'worker',
  'console',
  'tools/cli',
  'clients/conformance',
  'tools/local',
]

/** Prepares what `npm start`, the command line and `projects` need. Writes to stderr only. */
export async function bootstrap(...projects) {
  checkNode()
  reachThisMachine(process.env)
  await installDependencies()
  await build(...projects)
}

/**
 * Keeps requests to this machine from a proxy that NODE_USE_ENV_PROXY makes `fetch` use (Node 24 and
 * later).
 */
export function reachThisMachine(env) {
  const hosts = [env.no_proxy || env.NO_PROXY, '127.0.0.1'].filter(Boolean).join(',')
  Object.assign(env, { no_proxy: hosts, NO_PROXY: hosts })
}

/** The lowest Node version of each release line in package.json, as [major, minor]. */
export function nodeLines() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return engines.node.split('||').map((range) => {
    const [major, minor = 0] = range.trim().slice(1).split('.').map(Number)
    return [major, minor]
  })
}

/** Exits unless this Node is recent in a line of package.json, or newer than all. */
export function checkNode() {
  const { node } = process.versions
  const [major, minor] = node.split('.').map(Number)
  const lines = nodeLines()
  const newer = lines.every(([known]) => major > known)
  if (newer || lines.some(([known, lowest]) => major === known && minor >= lowest)) return
  const wanted = lines.map(([known, lowest]) => (lowest > 0 ? `${known}.${lowest}+` : known))
  fail(`Intake runs on Node ${wanted.join(', ')} and later. This is ${node}.`)
}

/** Installs the dependencies if the lockfile or a manifest changed since the last installation. */
export async function installDependencies() {
  const wanted = dependencyHash()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  console.error('Installing dependencies (once, about 250 MB) ...')
  const [npx, ...options] = pnpm()
  const env = { ...process.env, CI: 'true' } // pnpm asks no questions
  const code = await run(npx, [...options, 'install', '--frozen-lockfile'], { env })
  if (code !== 0) fail(`The dependencies could not be installed (pnpm exited with code ${code}).`)
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, wanted)
}

/** Returns the command that runs the pnpm of package.json. Exits if npm cannot fetch it. */
export function pnpm() {
  try {
    return ['npx', '--yes', '--prefer-offline', `--package=${fetchPnpm()}`, 'pnpm']
  } catch (error) {
    return fail(`pnpm, which installs the dependencies, could not be fetched: ${error.message}`)
  }
}

/** Compiles the sources that have changed. */
export async function build(...projects) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const code = await run(process.execPath, [tsc, '-b', ...builtProjects, ...projects])
  if (code !== 0) fail('The sources could not be compiled: the first error above says why.')
}

/** Returns the folders of the packages of the workspace, relative to the root. */
export function packageFolders() {
  const rooms = ['packages', 'clients', 'tools'].flatMap((room) =>
    readdirSync(join(root, room))
      .toSorted()
      .map((name) => `${room}/${name}`),
  )
  return ['gateway', 'worker', 'console', ...rooms].filter((folder) =>
    existsSync(join(root, folder, 'package.json')),
  )
}

function dependencyHash() {
  const files = ['.', ...packageFolders()]
    .map((folder) => join(folder, 'package.json'))
    .concat('pnpm-lock.yaml', 'pnpm-workspace.yaml')
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** Runs a command in the root, and forwards signals to it. Resolves to its exit code. */
export function run(command, args, { env = process.env, stdio = ['ignore', 2, 2] } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio })
    const passOn = (signal) => child.kill(signal)
    process.on('SIGINT', passOn).on('SIGTERM', passOn)
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGINT', passOn).off('SIGTERM', passOn)
      if (signal === null) resolve(code)
      else if (signal === 'SIGKILL')
        fail(`${[command, ...args].join(' ')} was killed, perhaps for lack of memory.`)
      else process.kill(process.pid, signal) // ends this process as if the signal had reached it
    })
  })
}

export function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
