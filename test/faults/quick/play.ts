import { fileURLToPath } from 'node:url'
import t from 'tap'
import { line } from '../report.ts'
import { runScenario } from '../run-scenario.ts'
import { scenarios } from '../scenarios/index.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '')

/**
 * Runs some scenarios as tests. This folder is the short form of `npm run test:faults`. It has
 * several files, so that they can run in parallel.
 */
export function play(...ids: string[]): void {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  t.comment(`SEED=${seed}`)
  for (const id of ids) {
    const scenario = scenarios.find((one) => one.id === id)
    if (scenario === undefined) throw new Error(`no scenario ${id}`)
    t.test(`${id}: after ${scenario.title}, acknowledged = visible, each once`, async (t) => {
      const result = await runScenario(scenario, { root, seed, slackMs: 5_000 })
      t.comment(line(result))
      t.same(result.reasons, [])
      t.equal(result.status, 'passed')
    })
  }
}
