import t from 'tap'
import { runConformance } from '../src/index.ts'
import { flaws, type Flaw } from './flaws.ts'
import { startSender } from './support.ts'

/** How long a case waits for a condition: briefly, since many wrong clients never meet it. */
const waitMs = 6_000

// Judges six clients at once, because a case spends most of its time waiting.
t.jobs = 6
for (const [flaw, { found }] of Object.entries(flaws)) {
  t.test(`a client that ${flaw} fails "${found}"`, { buffered: true }, async (t) => {
    const adapter = await startSender(t, { flaw: flaw as Flaw })
    const { results } = await runConformance({ adapter, only: found, waitMs })
    t.equal(results.length, 1)
    const [result] = results
    t.equal(result?.outcome, 'failed')
    t.notMatch(result?.seen, /AdapterError/, 'it is found by what the server saw')
    t.comment(result?.seen)
  })
}
