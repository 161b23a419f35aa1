import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { plantedBugs, runPlanted } from './planted.ts'
import { line, neverHappened, table } from './report.ts'
import { runScenario, type Result } from './run-scenario.ts'
import { scenarios } from './scenarios/index.ts'

const { values } = parseArgs({
  options: {
    /** Ids of the scenarios to run. `F34` selects both F34a and F34c. */
    only: { type: 'string' },
    seed: { type: 'string' },
    /** Keeps the data and logs of failed scenarios. */
    keep: { type: 'boolean', default: false },
    /** Plants bugs, and fails if the scenarios do not detect them. */
    planted: { type: 'boolean', default: false },
  },
})
const { keep, planted, only } = values
const wanted = only?.split(',').map((id) => id.trim().toUpperCase())
const isWanted = (id: string) =>
  !wanted || wanted.some((one) => new RegExp(`^${one}[A-Z]?$`).test(id.toUpperCase()))
const seed = Number(values.seed ?? process.env['SEED'] ?? Date.now() % 2 ** 31)
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
const results: Result[] = []

function report(result: Result): void {
  results.push(result)
  console.log(line(result))
}

if (planted) {
  const bugs = plantedBugs.filter(({ scenario }) => isWanted(scenario))
  console.log(`${bugs.length} planted bugs, each must make its scenario fail, SEED=${seed}`)
  for (const bug of bugs) report(await runPlanted(bug, { scenarios, root, seed }))
} else {
  const chosen = scenarios.filter(({ id }) => isWanted(id))
  console.log(`${chosen.length} scenarios, SEED=${seed}`)
  for (const scenario of chosen) report(await runScenario(scenario, { root, seed, keep }))
}

console.log(`\n${table(results)}\n`)
const whole = !planted && wanted === undefined
const missing = whole ? neverHappened(results) : []
for (const sentence of missing) console.log(`FAIL: ${sentence}`)
const number = (status: Result['status']) => results.filter((one) => one.status === status).length
const failed = number('failed') + missing.length
if (number('skipped') > 0) console.log(`${number('skipped')} skipped, for the reasons above`)
console.log(`${number('passed')} passed, ${failed} failed`)
process.exit(failed === 0 && number('passed') > 0 ? 0 : 1)
