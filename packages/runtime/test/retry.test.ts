import t from 'tap'
import { retryUntil, type Attempt, type Clock } from '@intake/runtime'

/** A clock that moves on to the next timer when nothing else happens. */
function createClock(): Clock {
  let now = 0
  const timers = new Set<{ at: number; run: () => void }>()
  const next = () => {
    const [first] = [...timers].toSorted((a, b) => a.at - b.at)
    if (first === undefined) return
    timers.delete(first)
    now = first.at
    first.run()
  }
  return {
    now: () => now,
    setTimeout(run, ms) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      setImmediate(next)
      return timer
    },
    clearTimeout: (timer) => void timers.delete(timer as never),
    setImmediate: (run) => void setImmediate(run),
    random: () => 0,
  }
}

const options = { what: 'the call', deadline: 1_000, attemptTimeoutMs: 300, pauseMs: 100 }

t.test('repeats until an attempt resolves', async (t) => {
  let attempts = 0
  const attempt = async () => {
    if (++attempts < 3) throw new Error('not yet')
    return 'done'
  }
  t.equal(await retryUntil(attempt, { ...options, clock: createClock() }), 'done')
  t.equal(attempts, 3)
})

t.test('rejects with the last error when the deadline leaves no time', async (t) => {
  const clock = createClock()
  let attempts = 0
  const attempt = () => Promise.reject(new Error(`attempt ${++attempts}`))
  await t.rejects(retryUntil(attempt, { ...options, clock }), { message: 'attempt 10' })
  t.equal(clock.now(), 900)
})

t.test('an attempt without a result is abandoned, and ends before the deadline', async (t) => {
  const clock = createClock()
  const seen: Attempt[] = []
  const never = (state: Attempt) => {
    seen.push(state)
    return new Promise<never>(() => {})
  }
  await t.rejects(retryUntil(never, { ...options, clock }), {
    name: 'TimeoutError',
    message: 'the call took longer than 200 ms',
  })
  t.equal(clock.now(), 1_000)
  t.same(
    seen.map(({ isAbandoned }) => isAbandoned),
    [true, true, true],
  )
})

t.test('a final error is not repeated', async (t) => {
  let attempts = 0
  const attempt = () => {
    attempts++
    return Promise.reject(new TypeError('final'))
  }
  const isFinal = (error: unknown) => error instanceof TypeError
  await t.rejects(retryUntil(attempt, { ...options, isFinal, clock: createClock() }), TypeError)
  t.equal(attempts, 1)
})

t.test('makes no attempt after the deadline', async (t) => {
  const attempt = () => t.fail('attempted') as never
  await t.rejects(retryUntil(attempt, { ...options, deadline: 0, clock: createClock() }), {
    message: 'the call: the deadline has passed',
  })
})
