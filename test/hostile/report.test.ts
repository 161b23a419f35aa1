import t from 'tap'
import type { Notice } from './innocent.ts'
import { markdown, type Run } from './report.ts'
import type { Result, Seen } from './result.ts'
import { judge } from './judge.ts'

const notice: Notice = { responses: 240, p50Ms: 6, slowestMs: 90, refusals: {} }
const fine: Seen = {
  before: notice,
  during: notice,
  attack: { facts: { sent: 100 } },
  facts: { sent: 100 },
  peakMiB: 200,
  cpuShare: 0.5,
  waitShare: 0,
  load: 1,
  connectionsEndMs: 20_000,
  died: false,
  exitCode: 0,
  exitMs: 50,
  violations: [],
}
const hostile = {
  id: 'a1',
  title: 'something',
  connectionsEndMs: 45_000,
  attack: () => Promise.resolve({ sent: 100 }),
}

t.test('a case passes if the innocent sender is not affected', async (t) => {
  t.same(judge(hostile, fine, { slowestMsMax: 1_500 }), [])
})

t.test('each condition alone can fail a case', async (t) => {
  const wrong: Partial<Seen>[] = [
    { before: { ...notice, slowestMs: 1_501 } },
    { during: { ...notice, responses: 0 } },
    { during: { ...notice, slowestMs: 1_501 } },
    { during: { ...notice, refusals: { busy: 1 } } },
    { attack: { failed: 'it threw' } },
    { facts: { sent: 0 } },
    { peakMiB: 901 },
    { connectionsEndMs: null },
    { died: true },
    { exitCode: 1 },
    { exitMs: 10_501 },
    { violations: ['visible twice'] },
  ]
  for (const one of wrong) {
    const reasons = judge(hostile, { ...fine, ...one }, { slowestMsMax: 1_500 })
    t.equal(reasons.length, 1, JSON.stringify(one))
  }
})

t.test('the page shows an earlier run beside the new one, case by case', async (t) => {
  const result = (seen: Seen, reasons: string[]): Result => {
    return { id: 'a1', title: 'something', reasons, seen, ms: 1_000 }
  }
  const run = (commit: string, results: Result[]): Run => {
    return { commit, results, date: '2026-11-23', node: '20.20.2', command: 'npm run test:hostile' }
  }
  const slow = { ...notice, slowestMs: 6_000, refusals: { ECONNRESET: 3 } }
  const before = run('aaaaaaa', [result({ ...fine, during: slow, died: true }, ['it died'])])
  const page = markdown(run('bbbbbbb', [result(fine, [])]), before)
  t.match(
    page,
    '| a1 | something | 90 | 6 | 0 of 240 | 200 | passed | 6000 | 3 of 240 | 200 | gateway died |',
  )
  t.match(page, 'commit bbbbbbb')
  t.match(page, 'Before: 2026-11-23, commit aaaaaaa')
})
