import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hostileCases } from './cases/index.ts'
import { line, markdown, type Run } from './report.ts'
import { runCases } from './run-cases.ts'

const { values } = parseArgs({
  options: {
    /** Ids of cases; `a` stands for a1, a2, … */
    only: { type: 'string' },
    /** The directory with the built code to test; default: this repository. */
    root: { type: 'string' },
    /** A file for the results as JSON. */
    json: { type: 'string' },
    /** A file for the results as a page. */
    write: { type: 'string' },
    /** The JSON of an earlier run, shown beside this one in the page. */
    before: { type: 'string' },
    /** Keeps logs and data. */
    keep: { type: 'boolean', default: false },
  },
})
const here = fileURLToPath(new URL('../../../../', import.meta.url)).replace(/\/$/, '')
const root = values.root ?? here
const wanted = values.only?.split(',').map((id) => id.trim())
const cases = hostileCases.filter(
  ({ id }) => !wanted || wanted.includes(id) || wanted.includes(id.replace(/\d+$/, '')),
)

const git = (...args: string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()
const product = ['--', 'gateway', 'worker', 'packages', 'tools']
const changed = git('status', '--porcelain', ...product) === '' ? '' : ' and uncommitted changes'
const run: Run = {
  commit: `${git('log', '-1', '--format=%h', ...product)}${changed}`,
  date: new Date().toISOString().slice(0, 10),
  node: process.versions.node,
  command: `npm run test:hostile${values.only === undefined ? '' : ` -- --only ${values.only}`}`,
  results: [],
}
const before =
  values.before === undefined ? undefined : (JSON.parse(readFileSync(values.before, 'utf8')) as Run)

raisePriority()
const dir = mkdtempSync(join(tmpdir(), 'intake-hostile-'))
console.log(`${cases.length} cases${values.keep ? ` in ${dir}` : ''}`)
await runCases({
  cases,
  dir,
  root,
  records: 40,
  slowestMsMax: 1_500,
  onResult(result) {
    run.results.push(result)
    console.log(line(result))
    // The results are written after each case, so that an interrupted run has results, too.
    if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(run, null, 2)}\n`)
    if (values.write !== undefined) writeFileSync(values.write, markdown(run, before))
  },
})
if (!values.keep) await rm(dir, { recursive: true, force: true })

const { results } = run
const passed = results.filter(({ reasons }) => reasons.length === 0).length
console.log(`${passed} passed, ${results.length - passed} failed`)
process.exit(passed === results.length && passed > 0 ? 0 : 1)

/**
 * Gives this process and its children a higher priority than the rest of the machine. If this
 * process may not do so, other load on the machine affects the times.
 */
function raisePriority(): void {
  try {
    setPriority(-15)
    // Linux first divides CPU time between sessions, so the session gets the priority, too. The
    // session outlives the suite, so its priority is reset at the end.
    writeFileSync('/proc/self/autogroup', '-15')
    process.once('exit', () => writeFileSync('/proc/self/autogroup', '0'))
  } catch {
    // Runs at normal priority, because this process may not raise it or this is not Linux.
  }
}
