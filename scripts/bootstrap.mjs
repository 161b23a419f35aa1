// Brings a fresh clone to the state in which the built code can run, and does next to nothing when
// that is the case already. Plain Node: nothing is installed yet when this runs.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '')

const stampFile = join(root, 'node_modules', '.cache', 'intake', 'installed')
const builtProjects = ['gateway', 'worker', 'packages/cli', 'packages/stack']

/** Everything that the scripts need before they import built code. Writes to stderr only. */
export async function bootstrap() {
  checkNode()
  await installDependencies()
  await build()
}

/** Ends the process with one sentence when this Node is too old. */
export function checkNode() {
  const { node } = process.versions
  const [major, minor] = node.split('.').map(Number)
  if (major < 20 || (major === 20 && minor < 19)) {
    fail(`Intake needs Node 20.19 or later, this is ${node}.`)
  }
}

/** Installs what the lockfile says, unless that is what was installed last. */
export async function installDependencies() {
  const wanted = dependencyHash()
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === wanted) return
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  console.error('Installing dependencies (once, about 250 MB) ...')
  const code = await run('npx', ['--yes', packageManager, 'install', '--frozen-lockfile'], {
    ...process.env,
    CI: 'true', // pnpm asks no questions
  })
  if (code !== 0) fail(`The dependencies could not be installed (pnpm ended with code ${code}).`)
  mkdirSync(dirname(stampFile), { recursive: true })
  writeFileSync(stampFile, wanted)
}

/** Compiles what has changed since the last time. */
export async function build() {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const code = await run(process.execPath, [tsc, '-b', ...builtProjects], process.env)
  if (code !== 0) fail('The sources could not be compiled.')
}

function dependencyHash() {
  const packages = readdirSync(join(root, 'packages'))
    .toSorted()
    .map((name) => join('packages', name))
  const files = ['.', 'gateway', 'worker', ...packages]
    .map((folder) => join(folder, 'package.json'))
    .concat('pnpm-lock.yaml', 'pnpm-workspace.yaml')
    .filter((file) => existsSync(join(root, file)))
  const hash = createHash('sha256')
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** Runs a command in the root, its output on stderr, and passes signals on to it. */
function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 2, 2] })
    const passOn = (signal) => child.kill(signal)
    process.on('SIGINT', passOn).on('SIGTERM', passOn)
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      process.off('SIGINT', passOn).off('SIGTERM', passOn)
      if (signal === null) resolve(code)
      else process.kill(process.pid, signal) // as if it had reached this process
    })
  })
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
