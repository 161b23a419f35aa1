import t from 'tap'
import { retryUntil, type Attempt, type Clock } from '@intake/runtime'
import { createTestClock } from '@intake/test-kit/test-clock'

/** Runs `retryUntil` in virtual time. */
async function retry(
  attempt: (state: Attempt) => Promise<string>,
  change: Partial<Parameters<typeof retryUntil>[1]> = {},
) {
  const clock = createTestClock()
  const outcome = retryUntil(attempt, { ...options, ...change, clock })
  const settled = outcome.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  await clock.runAll()
  return { ...(await settled), endedAt: clock.now() }
}

const options = { what: 'the call', deadline: 1_000, attemptTimeoutMs: 300, pauseMs: 100 }

t.test('repeats until an attempt resolves', async (t) => {
  let attempts = 0
  const attempt = async () => {
    if (++attempts < 3) throw new Error('not yet')
    return 'done'
  }
  t.match(await retry(attempt), { value: 'done', endedAt: 200 })
  t.equal(attempts, 3)
})

t.test('rejects with the last error when the deadline leaves no time', async (t) => {
  let attempts = 0
  const attempt = () => Promise.reject(new Error(`attempt ${++attempts}`))
  t.match(await retry(attempt), { error: { message: 'attempt 10' }, endedAt: 900 })
})

t.test('rejects with the last error when a pause lasts until after the deadline', async (t) => {
  const clock = createTestClock()
  const late: Clock = { ...clock, setTimeout: (run, ms) => clock.setTimeout(run, ms * 20) }
  let attempts = 0
  const attempt = () => Promise.reject(new Error(`attempt ${++attempts}`))
  const outcome = retryUntil(attempt, { ...options, clock: late })
  const rejected = t.rejects(outcome, { message: 'attempt 1' })
  await clock.runAll()
  await rejected
})

t.test('an attempt without a result is abandoned, and ends before the deadline', async (t) => {
  const seen: Attempt[] = []
  const never = (state: Attempt) => {
    seen.push(state)
    return new Promise<never>(() => {})
  }
  t.match(await retry(never), {
    error: { name: 'TimeoutError', message: 'the call took longer than 200 ms' },
    endedAt: 1_000,
  })
  const abandoned = seen.map(({ isAbandoned }) => isAbandoned)
  t.same(abandoned, [true, true, true])
})

t.test(
  'an attempt that resolves after its timeout is the result, and ends the repeats',
  async (t) => {
    for (const [ms, begun] of [
      [350, 1],
      [450, 2],
    ] as const) {
      const clock = createTestClock()
      let attempts = 0
      const slow = () =>
        new Promise<number>((resolve) => {
          const attempt = ++attempts
          clock.setTimeout(() => resolve(attempt), ms)
        })
      const outcome = retryUntil(slow, { ...options, clock })
      await clock.runAll()
      t.equal(await outcome, 1)
      t.equal(attempts, begun)
    }
  },
)

t.test('an attempt that the deadline cuts short does not hide why the others failed', async (t) => {
  let attempts = 0
  const attempt = () =>
    ++attempts < 3 ? Promise.reject(new Error('refused')) : new Promise<never>(() => {})
  t.match(await retry(attempt, { deadline: 374.3 }), {
    error: { message: 'the call took longer than 174 ms', cause: { message: 'refused' } },
  })
  attempts = 0
  t.match(
    await retry(attempt, { deadline: 550 }),
    { error: { message: 'the call took longer than 300 ms', cause: undefined } },
    'a whole attempt without a response is the reason itself',
  )
})

t.test('a final error is not repeated', async (t) => {
  let attempts = 0
  const attempt = () => {
    attempts++
    return Promise.reject(new TypeError('final'))
  }
  const isFinal = (error: unknown) => error instanceof TypeError
  t.match(await retry(attempt, { isFinal }), { error: { message: 'final' }, endedAt: 0 })
  t.equal(attempts, 1)
})

t.test('makes no attempt after the deadline', async (t) => {
  const attempt = () => t.fail('attempted') as never
  t.match(await retry(attempt, { deadline: 0 }), {
    error: { message: 'the call: the deadline has passed' },
  })
})
