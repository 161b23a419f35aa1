import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import type { ClaimedJob, JobSource } from '../src/job-source.ts'
import { createLockRenewal } from '../src/lock-renewal.ts'
import { createTimedSource } from '../src/timed-source.ts'

const job = (id: string): ClaimedJob => ({ id, data: undefined, attempts: 1 })

function build(renew: (jobs: readonly ClaimedJob[]) => Promise<string[]>) {
  const clock = createTestClock()
  const errors: Error[] = []
  const lost: number[] = []
  const onError = (error: Error) => void errors.push(error)
  const locks = createLockRenewal({
    renew: createTimedSource({ renew } as JobSource, { onError, clock }).renew,
    onError,
    onLost: (jobs) => lost.push(jobs),
    clock,
  })
  return { clock, locks, errors, lost }
}

t.test('renews every five seconds, and only while there are claimed jobs', async (t) => {
  const renewed: string[][] = []
  const { clock, locks } = build(async (jobs) => {
    renewed.push(jobs.map(({ id }) => id))
    return []
  })
  const [a, b] = [job('a'), job('b')]
  locks.add(a)
  await clock.advance(5_000)
  locks.add(b)
  await clock.advance(5_000)
  locks.delete(a)
  await clock.advance(5_000)
  locks.delete(b)
  t.same(renewed, [['a'], ['a', 'b'], ['b']])
  t.same(clock.pending(), [])
})

t.test('reports lost locks, except of jobs that were completed meanwhile', async (t) => {
  const [a, b] = [job('a'), job('b')]
  const { clock, locks, lost } = build(async () => {
    locks.delete(b)
    return ['a', 'b']
  })
  locks.add(a)
  locks.add(b)
  await clock.advance(5_000)
  t.same(lost, [1])
})

t.test('a failed renewal, or one without a reply, is reported and repeated', async (t) => {
  let calls = 0
  const { clock, locks, errors } = build(() =>
    ++calls === 1 ? Promise.reject(new Error('refused')) : new Promise(() => {}),
  )
  locks.add(job('a'))
  await clock.advance(25_000)
  t.equal(calls, 5)
  t.match(errors, [{ message: 'refused' }, { name: 'TimeoutError' }, { name: 'TimeoutError' }])
})
