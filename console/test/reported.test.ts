import t, { type Test } from 'tap'
import type { WorkerReport } from '@intake/health'
import { createTestClock } from '@intake/test-kit/test-clock'
import { join, startReported } from '../src/watch/reported.ts'

const since = '2026-11-29T04:00:00.000Z'
const backlog = {
  code: 'backlog',
  state: 'degraded',
  since,
  detail: 'logs: 30 rows wait',
  help: 'docs/operations/problems.md#backlog',
} as const

const print = (report: Partial<WorkerReport>) =>
  JSON.stringify({ problems: [], feedback: { frames: 0, oldestMs: null }, ...report })

function watch(t: Test) {
  const clock = createTestClock()
  let arrivals = 0
  const errors: unknown[] = []
  let read: () => Promise<string[]> = async () => []
  const reported = startReported({
    read: () => read(),
    onFeedback: () => arrivals++,
    onError: (error) => void errors.push(error),
    clock,
  })
  t.teardown(() => reported.close())
  return {
    clock,
    reported,
    arrivals: () => arrivals,
    errors,
    set: (next: typeof read) => (read = next),
  }
}

t.test('the same problem of several workers is shown once, and causes come first', async (t) => {
  const { clock, reported, set } = watch(t)
  const earlier = { ...backlog, since: '2026-11-29T03:00:00.000Z', detail: 'logs: 29 rows wait' }
  const insert = { ...backlog, code: 'insert_retry', state: 'down', detail: 'refused' } as const
  const other = { ...backlog, state: 'down', detail: 'feedback: 3 rows wait' } as const
  set(async () => [
    print({ problems: [backlog] }),
    print({ problems: [earlier, insert] }),
    print({ problems: [other] }),
    'the report of another version',
    '{"problems":1}',
  ])
  await clock.advance(5_000)
  const detail = `${backlog.detail}; ${other.detail}`
  t.same(join(reported.problems()), [insert, { ...other, since: earlier.since, detail }])
})

t.test('problems that were read long ago are not shown', async (t) => {
  const { clock, reported, errors, set } = watch(t)
  set(async () => [print({ problems: [backlog] })])
  await clock.advance(5_000)
  t.equal(reported.problems().length, 1)
  set(() => Promise.reject(new Error('no Redis')))
  await clock.advance(20_000)
  t.same(reported.problems(), [])
  t.match(errors, [{ message: 'no Redis' }])
  t.equal(reported.failure(), 'no Redis')
  set(async () => [])
  await clock.advance(5_000)
  t.equal(reported.failure(), undefined)
})

t.test('feedback that has become visible is passed on once', async (t) => {
  const { clock, arrivals, set } = watch(t)
  const reports = [
    print({ feedback: { frames: 2, oldestMs: 7 } }),
    print({ feedback: { frames: 1, oldestMs: 5 } }),
  ]
  set(async () => reports)
  await clock.advance(5_000)
  set(async () => reports.toReversed())
  await clock.advance(5_000)
  t.equal(arrivals(), 1)
  set(async () => [print({ feedback: { frames: 4, oldestMs: 9 } })])
  await clock.advance(5_000)
  t.equal(arrivals(), 2)
  // Another worker has taken the place of this one.
  set(async () => [print({ feedback: { frames: 4, oldestMs: 11 } })])
  await clock.advance(5_000)
  t.equal(arrivals(), 3)
})
