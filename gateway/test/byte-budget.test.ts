import t from 'tap'
import { createByteBudget } from '../src/byte-budget.ts'

t.test('a client that goes away frees nothing while its request is worked on', async (t) => {
  const budget = createByteBudget(100)
  const hold = budget.hold(60)
  let finish = () => {}
  const work = hold.keepDuring(new Promise<void>((resolve) => (finish = resolve)))
  hold.release()
  t.throws(() => budget.hold(60), { code: 'busy' })
  t.throws(() => hold.grow(1), { code: 'malformed_http' })
  finish()
  await work
  budget.hold(100).release()
})

t.test('work that fails or ends before the response gives the bytes back too', async (t) => {
  const budget = createByteBudget(100)
  const hold = budget.hold(60)
  await t.rejects(hold.keepDuring(Promise.reject(new Error('refused'))), { message: 'refused' })
  t.throws(() => budget.hold(60), { code: 'busy' })
  hold.grow(40)
  t.throws(() => hold.grow(1), { code: 'busy' })
  hold.release()
  hold.release()
  budget.hold(100).release()
})

t.test('what arrives takes only what was not held before it came', async (t) => {
  const budget = createByteBudget(100)
  const hold = budget.hold(10)
  for (const bytes of [6, 4, 5]) hold.arrive(bytes)
  budget.hold(85)
  t.throws(() => budget.hold(1), { code: 'busy' })
  t.throws(() => hold.arrive(1), { code: 'busy' })
  hold.release()
  t.throws(() => hold.arrive(1), { code: 'malformed_http' })
  budget.hold(15)
})
