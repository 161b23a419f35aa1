import t from 'tap'
import { createSweep } from '../src/sweep.ts'

t.test('without connections the sweep has no timer', async (t) => {
  let starts = 0
  let foundNone = () => {}
  const connections = {
    isEmpty() {
      foundNone()
      return true
    },
    all: () => t.fail('there is nothing to check'),
  }
  const sweep = createSweep({
    connections: connections as never,
    limits: { bodyBytesPerSecondMin: 1, responseTimeoutMs: 1 },
    // Counts the starts of the timer. Without connections, the sweep reads the clock at no other
    // time.
    clock: { now: () => starts++, intervalMs: 1 },
  })
  for (const count of [1, 2, 3]) {
    const empty = new Promise<void>((resolve) => (foundNone = resolve))
    sweep.start()
    sweep.start()
    t.equal(starts, count, 'the second connection starts no second timer')
    await empty
  }
})
