import t from 'tap'
import { readClock } from '../src/clock.ts'

/**
 * Simulates a Redis whose clock differs from the local clock by `offsetMs`, and reads its clock.
 * The request takes `thereMs`, and the reply takes `backMs`.
 */
function exchange(options: { offsetMs: number; thereMs: number; backMs: number }) {
  let nowMs = 1_000
  return readClock(
    {
      async time() {
        nowMs += options.thereMs
        const redisMs = nowMs + options.offsetMs
        nowMs += options.backMs
        return [Math.floor(redisMs / 1_000), (redisMs % 1_000) * 1_000]
      },
    },
    { now: () => nowMs },
  )
}

t.test('the offset of the clock is measured at the middle of the round trip', async (t) => {
  const reading = await exchange({ offsetMs: 3_600_000, thereMs: 20, backMs: 20 })
  t.same(reading, { offsetMs: 3_600_000, errorMs: 20 })
})

t.test('the offset of an asymmetric round trip is within the reported error', async (t) => {
  for (const [thereMs, backMs] of [
    [4_000, 0],
    [0, 4_000],
    [3_000, 1_000],
  ] as const) {
    const { offsetMs, errorMs } = await exchange({ offsetMs: 500, thereMs, backMs })
    t.equal(errorMs, 2_000)
    t.ok(Math.abs(offsetMs - 500) <= errorMs)
  }
})
