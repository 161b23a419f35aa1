import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createLoopUtilization } from '../src/loop-utilization.ts'

const windowMs = 100

t.test('tells a loop that works from one that waits, each over a window of its own', async (t) => {
  const utilization = createLoopUtilization()
  t.equal(utilization(), 0, 'nothing measured yet')

  const until = performance.now() + windowMs
  while (performance.now() < until);
  const working = utilization()
  t.ok(working > 0.9 && working <= 1, `${working} after working`)
  t.equal(utilization(), working, 'the same until the next window has ended')

  await pause(windowMs + 1)
  const waiting = utilization()
  t.ok(waiting < working / 2, `${waiting} after waiting`)
})
