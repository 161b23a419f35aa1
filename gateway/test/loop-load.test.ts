import t from 'tap'
import { watchLoopLoad } from '../src/loop-load.ts'

t.test('a loop that only works is busy; after some rest it is not', async (t) => {
  const isBusy = watchLoopLoad()
  t.equal(isBusy(), false, 'before it is known')
  while (!isBusy()) await new Promise((resolve) => setImmediate(resolve))
  while (isBusy()) await new Promise((resolve) => setTimeout(resolve, 10))
})
