import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { line, neverHappened, table } from './report.ts'
import { runScenario, type Result } from './run-scenario.ts'
import { scenarios } from './scenarios/index.ts'

const { values } = parseArgs({
  options: { only: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'boolean' } },
})
const wanted = values.only?.split(',').map((id) => id.trim().toUpperCase())
const chosen = scenarios.filter(
  ({ id }) => !wanted || wanted.some((one) => new RegExp(`^${one}[A-Z]?$`).test(id.toUpperCase())),
)
const seed = Number(values.seed ?? process.env['SEED'] ?? Date.now() % 2 ** 31)
const root = fileURLToPath(new URL('../../../', import.meta.url)).replace(/\/$/, '')
console.log(`${chosen.length} scenarios, SEED=${seed}`)

const results: Result[] = []
for (const scenario of chosen) {
  const result = await runScenario(scenario, { root, seed, keep: values.keep ?? false })
  results.push(result)
  console.log(line(result))
}

console.log(`\n${table(results)}\n`)
const missing = neverHappened(results)
for (const sentence of missing) console.log(`${wanted ? 'note' : 'FAIL'}: ${sentence}`)
const failed =
  results.filter(({ verdict }) => verdict === 'failed').length + (wanted ? 0 : missing.length)
const passed = results.filter(({ verdict }) => verdict === 'passed').length
const skipped = results.filter(({ verdict }) => verdict === 'skipped').length
if (skipped > 0) console.log(`${skipped} skipped, for the reasons above`)
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
