import t from 'tap'
import { systemClock } from '@intake/runtime'
import { mapInTurns, type SenderTurns } from '../../src/fairness/in-turns.ts'
import { createTurns } from '../../src/fairness/turns.ts'

const turns = createTurns()
const ownTurns: SenderTurns = {
  takeTurn: (piece) => turns.take('one', piece),
  clock: systemClock,
}

/** Blocks the event loop for longer than a turn. */
function work(): void {
  const until = performance.now() + 6
  while (performance.now() < until);
}

t.test('results are in the order of the values, also for promises', async (t) => {
  t.same(await mapInTurns([1, 2, 3], ownTurns, (n, index) => n * index), [0, 2, 6])
  t.same(await mapInTurns([1, 2], ownTurns, async (n) => n * 2), [2, 4])
})

t.test('other work gets the event loop between two long tasks', async (t) => {
  const order: string[] = []
  const pause = () => {
    order.push('-')
    if (order.filter((name) => name !== '-').length < 3) setImmediate(pause)
  }
  pause()
  await mapInTurns(['a', 'b', 'c'], ownTurns, (piece) => {
    work()
    order.push(piece)
  })
  t.match(order.join(''), /a-+b-+c/)
})

t.test('a promise that rejects long before the end is not an unhandled rejection', async (t) => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  process.on('unhandledRejection', note)
  t.teardown(() => process.off('unhandledRejection', note))
  const mapping = mapInTurns(['rejected', 'slow', 'slow'], ownTurns, async (value) => {
    if (value === 'rejected') throw new Error(value)
    work()
  })
  await t.rejects(mapping, { message: 'rejected' })
  const failing = mapInTurns(['rejected', 'slow', 'thrown'], ownTurns, (value) => {
    if (value === 'rejected') return Promise.reject(new Error(value))
    if (value === 'thrown') throw new Error(value)
    return Promise.resolve(work())
  })
  await t.rejects(failing, { message: 'thrown' })
  t.same(unhandled, [])
})
