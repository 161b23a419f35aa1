import t from 'tap'
import { createTurns } from '../../src/fairness/turns.ts'

t.test('accounts take turns, however much work one of them has', async (t) => {
  const turns = createTurns()
  const order: string[] = []
  const work = (name: string) => turns.take(name, () => order.push(name))
  await Promise.all([
    ...Array.from({ length: 5 }, () => work('greedy')),
    work('other'),
    work('other'),
  ])
  t.equal(order.join(' '), 'greedy greedy other greedy other greedy greedy')
})

t.test('a short task does not wait for the long tasks of others', async (t) => {
  const turns = createTurns()
  const order: string[] = []
  const work = () => {
    const from = performance.now()
    while (performance.now() - from < 10);
    order.push('long')
  }
  const long = Array.from({ length: 4 }, () => turns.takeLong('greedy', work))
  await turns.take('other', () => order.push('short'))
  await Promise.all(long)
  t.ok(order.indexOf('short') <= 1, order.join(' '))
})

t.test('one piece of pooled work runs at a time, and accounts take turns', async (t) => {
  const turns = createTurns()
  const order: string[] = []
  let running = 0
  const work = (name: string) => async () => {
    t.equal(++running, 1)
    await new Promise(setImmediate)
    order.push(name)
    running--
    if (name === 'a2') throw new Error('a fault')
  }
  const done = await Promise.allSettled([
    ...['a1', 'a2', 'a3'].map((name) => turns.takePooled('a', work(name))),
    turns.takePooled('b', work('b1')),
  ])
  t.same(order, ['a1', 'a2', 'b1', 'a3'])
  t.same(
    done.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})
