import t from 'tap'
import { abbaOrder, repeatDisturbed } from '../rounds.ts'

t.test('variants run forwards and backwards in turn', async (t) => {
  t.same(abbaOrder(['a', 'b', 'c'], 3), ['a', 'b', 'c', 'c', 'b', 'a', 'a', 'b', 'c'])
  t.same(abbaOrder(['a', 'b'], 0), [])
})

t.test('some take part in the first and the last round only', async (t) => {
  const isInEvery = (variant: string) => variant !== 'c'
  const order = abbaOrder(['a', 'b', 'c'], 4, isInEvery)
  t.same(order, ['a', 'b', 'c', 'b', 'a', 'a', 'b', 'c', 'b', 'a'])
  t.same(abbaOrder(['a', 'c'], 2, isInEvery), ['a', 'c', 'c', 'a'])
})

/** Judges rounds on a machine whose slowness is told one look after the other; then it is 1. */
function judge(slownesses: number[] = []) {
  const log = { discarded: 0, keptDisturbed: 0 }
  const slowness = () => slownesses.shift() ?? 1
  const limits = { foreignShareMax: 0.05, slownessMax: 1.4 }
  return { log, undisturbed: repeatDisturbed({ ...limits, slowness, log }) }
}

t.test('a disturbed round is repeated and counted as discarded', async (t) => {
  const shares = [0.5, 0.01]
  const { undisturbed, log } = judge()
  const round = await undisturbed(async () => ({ foreignShare: shares.shift() ?? 1 }))
  t.equal(round.foreignShare, 0.01)
  t.same(log, { discarded: 1, keptDisturbed: 0 })
})

t.test('so is one before or after which the machine was slow', async (t) => {
  const { undisturbed, log } = judge([1.5, 1, 1, 1.5, 1.4, 1.4])
  let measured = 0
  const round = await undisturbed(async () => ({ foreignShare: 0, number: ++measured }))
  t.equal(round.number, 3)
  t.same(log, { discarded: 2, keptDisturbed: 0 })
})

t.test('after three disturbed tries the least disturbed one is kept, and told', async (t) => {
  const shares = [0.5, 0.3, 0.4, 0]
  const { undisturbed, log } = judge([1, 9, 1, 1])
  const round = await undisturbed(async () => ({ foreignShare: shares.shift() ?? 1 }))
  t.equal(round.foreignShare, 0.3)
  t.same(log, { discarded: 2, keptDisturbed: 1 })
  t.same(shares, [0], 'no fourth try')
})

t.test('a machine that is never quiet does not make the run endless', async (t) => {
  const { undisturbed, log } = judge()
  let measured = 0
  for (let round = 0; round < 20; round++) {
    await undisturbed(async () => ({ foreignShare: ++measured }))
  }
  t.same(log, { discarded: 2, keptDisturbed: 20 })
  t.equal(measured, 22)
})
