import t from 'tap'
import type { Counts } from './kit/checker.ts'
import { markdown, neverHappened, table } from './report.ts'
import type { Result } from './run-scenario.ts'

const survived: Counts = {
  issued: 1_200,
  acknowledged: 1_000,
  refused: 100,
  unknown: 100,
  visible: 1_050,
  redeliveries: 1,
  duplicateRows: 1,
  partialInserts: 1,
}

const passed = (id: string, counts: Counts): Result => {
  return { id, title: `what breaks in ${id}`, status: 'passed', reasons: [], counts, ms: 1_000 }
}

t.test('a run counts only if every kind of event occurred at least once', async (t) => {
  t.same(neverHappened([passed('F1', survived)]), [])
  const lacking: Partial<Counts>[] = [
    { redeliveries: 0 },
    { duplicateRows: 0 },
    { partialInserts: 0 },
    { unknown: 0 },
    { acknowledged: 999 },
  ]
  for (const one of lacking) {
    const missing = neverHappened([passed('F1', { ...survived, ...one })])
    t.equal(missing.length, 1, `it fails with ${JSON.stringify(one)}`)
  }
})

t.test('an event in any scenario counts for the whole run', async (t) => {
  const nothing: Counts = { ...survived, redeliveries: 0, duplicateRows: 0, partialInserts: 0 }
  t.same(neverHappened([passed('F1', nothing), passed('F2', survived)]), [])
})

t.test('table and page end with the totals', async (t) => {
  const results = [passed('F1', survived), passed('F2', survived)]
  const last = (text: string) => text.trimEnd().split('\n').at(-1)?.match(/\d+/g)?.map(Number)
  const totals = [2_000, 2_100, 200, 200, 2, 2, 2, 2]
  t.same(last(table(results)), totals)
  t.same(last(markdown(results, { command: 'npm run test:faults', date: '2026-11-21' })), totals)
})
