// Runs the checks and the tests, even on a fresh clone. The last line is `N passed, N failed`: the
// number of assertions in the tests, plus one for each check.
//
// npm test                    the checks and the quick test files
// npm test -- path ...        the checks and these test files
// npm run test:slow           the slow test files, and the property tests with all their cases
// .ci/run                     the checks and all test files
// .ci/run --shard=1/3         one of three parts of all this; the first has the checks
// npm run test:timings        all test files; writes test-timings.json
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bootstrap, root } from './bootstrap.mjs'
import { dearestFirst, divide, findTestFiles, isProperty, isSlow } from './test-files.mjs'

/** More than the cores of CI: most slow files wait for servers most of the time. */
const processes = 4
/** The quick set runs this share of the random cases of a property test. */
const quickPropertyRuns = '0.2'
const resultsFile = join(root, '.tap', 'results.tap')
const sources = ['gateway', 'worker', 'console', 'packages', 'clients', 'tools', 'test', 'deploy']

const { values, positionals: paths } = readArguments()
const [shard, shards] = values.shard.split('/').map(Number)
if (!(shard >= 1 && shard <= shards)) {
  console.error(`--shard=${values.shard} is not of the form 1/3`)
  process.exit(1)
}

const began = performance.now()
await bootstrap()
mkdirSync(join(root, '.tap'), { recursive: true })
rmSync(resultsFile, { force: true })

let passed = 0
let failed = 0
const failedChecks = []
const selected = paths.length > 0 ? [] : dearestFirst(divide(selectFiles(), shards)[shard - 1])
// Compiles the programs that the tests start.
await check('types', 'tsc', ['-b'])
const [code] = await Promise.all([runTests(), values.slow || shard > 1 ? undefined : runChecks()])
const results = existsSync(resultsFile) ? readFileSync(resultsFile, 'utf8') : ''
// Prints the failures with their reasons.
const notOk = /^( *)not ok .*\n(?:\1  ---\n(?:.*\n)*?\1  \.\.\.\n)?/gm
for (const [point] of results.matchAll(notOk)) console.log(point)
// Prints the seeds of the random cases, with which this run can be repeated.
for (const [, seed] of results.matchAll(/# (simulation: SIM_BASE=.*)/g)) console.log(seed)
const counts = [...results.matchAll(/^# \{ (total.*) \}$/gm)].at(-1)?.[1]
passed += Number(/pass: (\d+)/.exec(counts ?? '')?.[1] ?? 0)
failed += Number(/fail: (\d+)/.exec(counts ?? '')?.[1] ?? 0)
const ended = new Set(
  [...results.matchAll(/# file (\{.*\})$/gm)].map(([, json]) => JSON.parse(json).file),
)
for (const file of selected.filter((one) => !ended.has(one))) {
  failed++
  console.log(`not ok: ${file} did not run to its end`)
}
if (code !== 0 && failed === 0) failed++

for (const name of failedChecks) console.log(`not ok: ${name}, see above`)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        slow: { type: 'boolean', default: false },
        all: { type: 'boolean', default: false },
        shard: { type: 'string', default: '1/1' },
        timings: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    console.error(`${error.message}\nThe options of tap: npx tap --<option> path ...`)
    process.exit(1)
  }
}

async function runChecks() {
  await check('generated files', process.execPath, ['tools/scripts/generate.mjs', '--check'])
  await check('compose', process.execPath, ['test/deploy/check-clickhouse.mjs'])
  await check('format', 'oxfmt', ['--check'])
  await check('lint', 'oxlint', ['--type-aware', '--deny-warnings', ...sources])
  await check('unused', 'knip', ['--no-progress', '--no-config-hints'])
}

function runTests() {
  const args = ['--reporter=./tools/scripts/test-reporter.mjs', `--output-file=${resultsFile}`]
  const env = {}
  if (values.timings) env.WRITE_TIMINGS = '1'
  if (!values.slow && !values.all && paths.length === 0)
    env.PROPERTY_RUNS = process.env.PROPERTY_RUNS ?? quickPropertyRuns
  return run('tests', 'tap', [...args, ...(paths.length > 0 ? paths : writeModules())], env)
}

/**
 * Writes a module for each process; returns their paths. Each file runs in the first that is free.
 * A process that an earlier run has left finds no folder, so it takes no file of this run.
 */
function writeModules() {
  const modules = join('.tap', 'modules')
  const folder = join(modules, String(process.pid))
  rmSync(join(root, modules), { recursive: true, force: true })
  mkdirSync(join(root, folder), { recursive: true })
  const text = `import { runTogether } from '../../../tools/scripts/test-together.mjs'
await runTogether(${JSON.stringify(selected, null, 2)}, ${JSON.stringify(folder)})
`
  return Array.from({ length: Math.min(processes, selected.length) }, (_, index) => {
    const path = join(folder, `process ${index + 1}.mjs`)
    writeFileSync(join(root, path), text)
    return path
  })
}

function selectFiles() {
  const files = findTestFiles()
  if (values.all) return files
  return files.filter((file) => (values.slow ? isSlow(file) || isProperty(file) : !isSlow(file)))
}

async function check(name, command, args) {
  if ((await run(name, command, args)) === 0) {
    passed++
  } else {
    failed++
    failedChecks.push(name)
  }
}

function run(name, command, args, extraEnv = {}) {
  const seconds = Math.round((performance.now() - began) / 1000)
  console.log(`> ${name} (after ${seconds} s)`)
  const path = join(root, 'node_modules', '.bin')
  const env = { ...process.env, ...extraEnv, PATH: `${path}:${process.env.PATH}` }
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', reject)
    child.once('exit', resolve)
  })
}
