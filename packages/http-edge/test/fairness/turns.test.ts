import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { createTurns } from '../../src/fairness/turns.ts'

t.test('tasks run in order, and a failed one does not stop the next', async (t) => {
  const turns = createTurns()
  const order: number[] = []
  const first = turns.take('one', () => order.push(1))
  const failing = turns.take('one', () => {
    order.push(2)
    throw new Error('broken')
  })
  const third = turns.take('one', () => order.push(3))
  t.equal(await first, 1)
  await t.rejects(failing, { message: 'broken' })
  t.equal(await third, 3)
  t.same(order, [1, 2, 3])
})

t.test('the event loop turns between two tasks', async (t) => {
  const turns = createTurns()
  const order: string[] = []
  const pieces = ['a', 'b', 'c'].map((piece) => turns.take('one', () => void order.push(piece)))
  const over = new AbortController()
  const others = (async () => {
    while (!over.signal.aborted) {
      order.push('-')
      await immediate()
    }
  })()
  await Promise.all(pieces)
  over.abort()
  await others
  t.match(order.join(''), /a-+b-+c/)
})

t.test('after a long task, other work gets the event loop for the same time', async (t) => {
  const turns = createTurns()
  let ended = 0
  const long = turns.take('one', () => {
    const from = performance.now()
    while (performance.now() - from < 50);
    ended = performance.now()
  })
  const began = await Promise.all([turns.take('one', () => performance.now()), long])
  t.ok(began[0] - ended >= 45, `${began[0] - ended} ms`)
})

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
