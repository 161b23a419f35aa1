import t from 'tap'
import { startPolling, untilWholeSecond } from '@intake/runtime'
import { createTestClock } from '@intake/test-kit/test-clock'

t.test('intervals double from 100 ms until the first success, errors are reported', async (t) => {
  const clock = createTestClock()
  const errors: unknown[] = []
  let fails = true
  const polling = startPolling({
    poll: async () => {
      if (fails) throw new Error('down')
    },
    intervalMs: 1_000,
    onError: (error) => errors.push(error),
    clock,
  })
  const nextPause = async () => {
    await clock.advance(0)
    const [pause = 0] = clock.pending()
    await clock.advance(pause)
    return pause
  }
  for (const pause of [100, 200, 400, 800, 1_000, 1_000]) t.equal(await nextPause(), pause)
  t.equal(errors.length, 7)
  fails = false
  await nextPause()
  fails = true
  await nextPause()
  t.equal(await nextPause(), 1_000, 'after a success a failure changes nothing')
  polling.close()
})

t.test('polls at once on request, and never after close', async (t) => {
  const clock = createTestClock()
  let polls = 0
  const errors: unknown[] = []
  const polling = startPolling({
    poll: async () => {
      polls++
      throw new Error('down')
    },
    intervalMs: 1_000,
    onError: (error) => errors.push(error),
    clock,
  })
  await clock.advance(0)
  polling.pollNow()
  await clock.advance(0)
  t.equal(polls, 2)
  polling.close()
  await clock.runAll()
  t.equal(polls, 2)
  t.equal(errors.length, 2)
})

t.test('polls that began at different times run at the same whole seconds', async (t) => {
  const clock = createTestClock()
  const polledAt: number[] = []
  const start = (intervalMs: number) =>
    startPolling({
      poll: async () => void polledAt.push(clock.now()),
      intervalMs,
      onError: (error) => t.fail(error as Error),
      clock,
    })
  const often = start(1_000)
  await clock.advance(300)
  const rarely = start(2_000)
  await clock.advance(3_700)
  t.strictSame(polledAt, [0, 300, 1_000, 2_000, 2_000, 3_000, 4_000, 4_000])
  often.close()
  rarely.close()
})

t.test('a pause until a whole second is as long as asked, or shorter', async (t) => {
  const pauseAt = (now: number, ms: number) => untilWholeSecond(ms, { now: () => now })
  t.equal(pauseAt(3_000, 5_000), 5_000)
  t.equal(pauseAt(3_600, 5_000), 4_400)
  t.equal(pauseAt(3_999, 1_000), 1_001, 'a timer that ran early does not run twice')
  t.equal(pauseAt(3_600, 350), 350, 'shorter pauses are not changed')
})
