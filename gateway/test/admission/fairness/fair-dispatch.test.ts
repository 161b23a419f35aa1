import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { createFairDispatch } from '../../../src/admission/fairness/fair-dispatch.ts'

t.test('a few requests are served at once, in their order', async (t) => {
  const dispatch = createFairDispatch({ perTurn: 3 })
  const served: string[] = []
  for (const name of ['a', 'b', 'a']) dispatch(name, () => served.push(name))
  t.same(served, ['a', 'b', 'a'])
})

t.test('beyond that, accounts alternate, and each turn of the loop serves a few', async (t) => {
  const dispatch = createFairDispatch({ perTurn: 2 })
  const served: string[] = []
  for (let n = 0; n < 6; n++) dispatch('greedy', () => served.push('greedy'))
  dispatch('other', () => served.push('other'))
  t.equal(served.length, 2)
  await immediate()
  t.same(served.slice(2), ['greedy', 'other'])
  while (served.length < 7) {
    const before = served.length
    await immediate()
    t.ok(served.length - before <= 2)
  }
  t.same(served.slice(4), ['greedy', 'greedy', 'greedy'])
})
