// npm run test:node: runs `npm start` and `npm test` on every Node release line in package.json,
// each on a fresh clone of the last commit. To select lines: npm run test:node -- 24 26. The Node
// binaries come from the npm registry. Takes half an hour; the last line is `N passed, N failed`.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import { nodeLines, root } from './bootstrap.mjs'
import { installNode } from './node-binary.mjs'

const visibleMs = 60_000
const chosen = process.argv.slice(2)
const majors = nodeLines()
  .map(([major]) => String(major))
  .filter((major) => chosen.length === 0 || chosen.includes(major))

const dir = mkdtempSync(join(tmpdir(), 'intake-node-'))
const running = new Set()
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    for (const child of running) kill(child, 'SIGTERM')
    process.exit(1)
  })
}

let passed = 0
let failed = 0
for (const major of majors) {
  const folder = join(dir, major)
  const log = `${folder}.log`
  try {
    const env = environment(folder, major)
    const version = execFileSync('node', ['--version'], { env, encoding: 'utf8' }).trim()
    const clone = join(folder, 'intake')
    execFileSync('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
    const say = (text) => console.log(`Node ${version}: ${text}`)
    say(`npm start and npm test on a fresh clone, log in ${log}`)
    const begun = performance.now()
    say(`npm start: ${await start({ clone, env, log })}`)
    say(`npm test: ${await test({ clone, env, log })}`)
    say(`passed after ${Math.round((performance.now() - begun) / 1000)} s`)
    passed++
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    failed++
    console.log(`Node ${major}: FAILED, ${error.message}`)
  }
}
if (failed === 0) rmSync(dir, { recursive: true, force: true })
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 && passed > 0 ? 0 : 1

/** Puts that Node first on the PATH, and leaves out the variables that npm sets. */
function environment(folder, major) {
  const bin = installNode(major, folder)
  const own = Object.entries(process.env).filter(([name]) => !/^npm_|^INIT_CWD$/i.test(name))
  return { ...Object.fromEntries(own), PATH: [bin, process.env.PATH].join(delimiter) }
}

/** Runs npm start and its printed commands: sends an event and queries until it is visible. */
async function start({ clone, env, log }) {
  const ports = ['', 'GATEWAY_ADMIN_', 'WORKER_ADMIN_', 'REDIS_', 'CLICKHOUSE_', 'S3_']
  const anyPorts = Object.fromEntries(ports.map((name) => [`${name}PORT`, '0']))
  const stack = launch(['start'], { clone, env: { ...env, ...anyPorts }, log })
  try {
    const [send, , , query] = await curlLines(stack)
    const sent = shell(send)
    if (!sent.includes('successfully created'))
      throw new Error(`unexpected response to the event: ${sent}`)
    const until = performance.now() + visibleMs
    while (!shell(query).includes('screen_view')) {
      if (performance.now() > until) throw new Error(`no row within ${visibleMs} ms`)
    }
    kill(stack, 'SIGINT')
    await stack.ended
    if (existsSync(join(clone, '.intake', 'endpoints.json'))) throw new Error('it has not stopped')
    return 'the event is visible, Ctrl-C stops it'
  } finally {
    kill(stack, 'SIGTERM')
    await stack.ended
  }
}

/** Resolves to the four commands that npm start prints when it is ready. */
function curlLines(stack) {
  const found = []
  return new Promise((resolve, reject) => {
    createInterface(stack.stdout).on('line', (line) => {
      if (line.startsWith('curl ')) found.push(line)
      if (found.length === 4) resolve(found)
    })
    void stack.ended.then(() => reject(new Error('npm start exited before it was ready')))
  })
}

/** Runs npm test; resolves to its last line. */
async function test(options) {
  const run = launch(['test'], options)
  let last = ''
  createInterface(run.stdout).on('line', (line) => (last = line))
  const code = await run.ended
  if (code !== 0) throw new Error(`npm test exited with ${code}: ${last}`)
  return last
}

/** Runs npm in its own process group, because npm does not forward every signal. */
function launch(args, { clone, env, log }) {
  const stdio = ['ignore', 'pipe', 'pipe']
  const child = spawn('npm', args, { cwd: clone, env, stdio, detached: true })
  const file = createWriteStream(log, { flags: 'a' })
  child.stdout.pipe(file, { end: false })
  child.stderr.pipe(file, { end: false })
  running.add(child)
  child.ended = once(child, 'close').then(([code]) => {
    running.delete(child)
    file.end()
    return code
  })
  return child
}

function kill({ pid, exitCode, signalCode }, signal) {
  if (exitCode === null && signalCode === null) process.kill(-pid, signal)
}

function shell(command) {
  return execFileSync('sh', ['-c', command], { encoding: 'utf8' })
}
