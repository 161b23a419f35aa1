import t from 'tap'
import { runConformance } from '../src/index.ts'
import { flaws, type Flaw } from './flaws.ts'
import { startSender } from './support.ts'

/** Shorter than the default, because many wrong senders never do what the case waits for. */
const waitMs = 10_000

// The cases wait most of the time, so several senders are judged at once.
t.jobs = 6
for (const [flaw, title] of Object.entries(flaws) as [Flaw, string][]) {
  t.test(`a sender that ${flaw} fails "${title}"`, { buffered: true }, async (t) => {
    const adapter = await startSender(t, { flaw })
    const { results } = await runConformance({ adapter, only: title, waitMs })
    t.equal(results.length, 1)
    const [result] = results
    t.equal(result?.outcome, 'failed')
    t.notMatch(result?.seen, /AdapterError/, 'it is found by what the server saw')
    t.comment(result?.seen)
  })
}
