// npm test: every check, also on a fresh clone. Arguments are passed to tap: npm test -- path. The last
// line is `N passed, N failed`: the assertions of the tests, and each check as one more.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrap, root } from './bootstrap.mjs'

const resultsFile = join(root, '.tap', 'results.tap')
const sources = ['gateway', 'worker', 'packages', 'scripts', 'test', 'deploy', 'bench']

const began = performance.now()
await bootstrap()
mkdirSync(join(root, '.tap'), { recursive: true })
rmSync(resultsFile, { force: true })

let passed = 0
let failed = 0
const failedChecks = []
await Promise.all([
  check('format', 'prettier', ['--check', '--log-level=warn', '.']),
  check('lint', 'oxlint', ['--type-aware', '--deny-warnings', ...sources]),
  check('types', 'tsc', ['-b']),
])
await check('docs', process.execPath, ['scripts/generate-docs.mjs', '--check'])
await check('compose', process.execPath, ['deploy/check-clickhouse.mjs'])

const tapArgs = [
  '--reporter=./scripts/test-reporter.mjs',
  `--output-file=${resultsFile}`,
  ...process.argv.slice(2),
]
const code = await run('tests', 'tap', tapArgs)
const results = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : ''
// The failures, with their reasons.
const notOk = /^( *)not ok .*\n(?:\1  ---\n(?:.*\n)*?\1  \.\.\.\n)?/gm
for (const [point] of results.matchAll(notOk)) console.log(point)
// The seeds of this run, to repeat it.
for (const [, seed] of results.matchAll(/# (simulation: SIM_BASE=.*)/g)) console.log(seed)
const counts = [...results.matchAll(/^# \{ (total.*) \}$/gm)].at(-1)?.[1]
passed += Number(/pass: (\d+)/.exec(counts ?? '')?.[1] ?? 0)
failed += Number(/fail: (\d+)/.exec(counts ?? '')?.[1] ?? 0)
if (code !== 0 && failed === 0) failed++

for (const name of failedChecks) console.log(`not ok: ${name}, see above`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

async function check(name, command, args) {
  if ((await run(name, command, args)) === 0) {
    passed++
  } else {
    failed++
    failedChecks.push(name)
  }
}

function run(name, command, args) {
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`> ${name} (after ${seconds} s)`)
  const path = join(root, 'node_modules', '.bin')
  const env = { ...process.env, PATH: `${path}:${process.env.PATH}` }
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
