import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { line, table } from './report.ts'
import { runScenario, type Result } from './run-scenario.ts'
import { upgradeScenarios } from './scenarios/upgrade.ts'

const { values } = parseArgs({
  options: {
    /** Root of the earlier build. */
    old: { type: 'string' },
    /** Keeps the data and logs of failed scenarios. */
    keep: { type: 'boolean', default: false },
  },
})
const { old, keep } = values
if (old === undefined) throw new Error('--old must be the folder of an earlier build')
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
const seed = Number(process.env['SEED'] ?? 1)

const results: Result[] = []
for (const scenario of upgradeScenarios({ old })) {
  const result = await runScenario(scenario, { root, seed, keep })
  results.push(result)
  console.log(line(result))
}
console.log(`\n${table(results)}\n`)
const failed = results.filter(({ status }) => status !== 'passed').length
console.log(`${results.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
