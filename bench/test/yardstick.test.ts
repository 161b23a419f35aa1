import t from 'tap'
import { createYardstick } from '../yardstick.ts'

t.test('the slowness is relative to the fastest so far, the beginning included', async (t) => {
  const times = [10, 12, 8, 12]
  const slowness = createYardstick(() => times.shift() ?? NaN)
  t.same([slowness(), slowness(), slowness()], [1.2, 1, 1.5])
})
