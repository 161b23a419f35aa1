import { mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hostileCases } from './cases/index.ts'
import { line } from './report.ts'
import type { Result } from './result.ts'
import { runCases } from './run-cases.ts'

const { values } = parseArgs({
  options: {
    /** Ids of cases; `a` stands for a1, a2, … */
    only: { type: 'string' },
    /** The directory with the built code to test; default: this repository. */
    root: { type: 'string' },
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

const results: Result[] = []

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
    results.push(result)
    console.log(line(result))
  },
})
if (!values.keep) await rm(dir, { recursive: true, force: true, maxRetries: 9 })

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
