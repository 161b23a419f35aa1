// npm run test:node: runs `npm test`, whose test/main-job.test.ts runs `npm start` and its printed
// commands, on every Node release line in package.json, each on a fresh clone of the last commit. To
// select lines: npm run test:node -- 24 26. The Node binaries come from the npm registry. Takes half
// an hour; the last line is `N passed, N failed`.
import { execFileSync, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { nodeLines, root } from './bootstrap.mjs'
import { installNode } from './node-binary.mjs'

const chosen = process.argv.slice(2)
const majors = nodeLines()
  .map(([major]) => String(major))
  .filter((major) => chosen.length === 0 || chosen.includes(major))

const dir = mkdtempSync(join(tmpdir(), 'intake-node-'))
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
    say(`npm test on a fresh clone, log in ${log}`)
    const begun = performance.now()
    say(test({ clone, env, log }))
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

/** Runs npm test; returns its last line. */
function test({ clone, env, log }) {
  const output = openSync(log, 'a')
  const stdio = ['ignore', output, output]
  const { status } = spawnSync('npm', ['test'], { cwd: clone, env, stdio })
  closeSync(output)
  const last = readFileSync(log, 'utf8').trimEnd().split('\n').at(-1)
  if (status !== 0) throw new Error(`npm test exited with ${status}: ${last}`)
  return last
}
