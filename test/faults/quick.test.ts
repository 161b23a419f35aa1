import { fileURLToPath } from 'node:url'
import t from 'tap'
import { line } from './report.ts'
import { runScenario } from './run-scenario.ts'
import { scenarios } from './scenarios/index.ts'

/** The short form of `npm run test:faults`: one fault per part, two minutes. */
const quick = ['F13', 'F20', 'F21', 'F24', 'F26', 'F37', 'F42a']
const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)

t.setTimeout(300_000)
t.comment(`SEED=${seed}`)
for (const id of quick) {
  const scenario = scenarios.find((one) => one.id === id)
  if (scenario === undefined) throw new Error(`no scenario ${id}`)
  t.test(`${id}: after ${scenario.title}, acknowledged = visible, each once`, async (t) => {
    const result = await runScenario(scenario, { root, seed, slackMs: 5_000 })
    t.comment(line(result))
    t.same(result.reasons, [])
    t.equal(result.verdict, 'passed')
  })
}
