import t from 'tap'
import { runConformance } from '../src/index.ts'
import { startSender } from './support.ts'

const adapter = await startSender(t)
const { results } = await runConformance({ adapter })

for (const { title, outcome, seen, requests } of results) {
  t.test(`the client for JavaScript ${title}`, async (t) => {
    t.equal(outcome, 'passed', [seen, ...requests].join('\n'))
  })
}
