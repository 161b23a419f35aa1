import { setImmediate as immediate } from 'node:timers/promises'
import t from 'tap'
import { createTurns } from '../src/turns.ts'

t.test('pieces of work run in order, and one that fails does not stop the next', async (t) => {
  const turns = createTurns()
  const order: number[] = []
  const first = turns.take(() => order.push(1))
  const failing = turns.take(() => {
    order.push(2)
    throw new Error('broken')
  })
  const third = turns.take(() => order.push(3))
  t.equal(await first, 1)
  await t.rejects(failing, { message: 'broken' })
  t.equal(await third, 3)
  t.same(order, [1, 2, 3])
})

t.test('between two pieces the event loop turns', async (t) => {
  const turns = createTurns()
  const order: string[] = []
  const pieces = ['a', 'b', 'c'].map((piece) => turns.take(() => void order.push(piece)))
  const others = (async () => {
    for (let turn = 0; turn < 20; turn++) {
      order.push('-')
      await immediate()
    }
  })()
  await Promise.all([...pieces, others])
  t.match(order.join(''), /a-+b-+c/)
})

t.test('after a long piece others have the event loop for as long', async (t) => {
  const turns = createTurns()
  let ended = 0
  const long = turns.take(() => {
    const from = performance.now()
    while (performance.now() - from < 50);
    ended = performance.now()
  })
  const began = await Promise.all([turns.take(() => performance.now()), long])
  t.ok(began[0] - ended >= 45, `${began[0] - ended} ms`)
})
