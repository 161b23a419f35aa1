import t from 'tap'
import { abbaOrder, createRoundRepeater } from '../rounds.ts'

t.test('variants run forwards and backwards in turn', async (t) => {
  t.same(abbaOrder(['a', 'b', 'c'], 3), ['a', 'b', 'c', 'c', 'b', 'a', 'a', 'b', 'c'])
  t.same(abbaOrder(['a', 'b'], 0), [])
})

/** Judges rounds on a machine whose slowness is told one look after the other; then it is 1. */
function judge(slownesses: number[] = []) {
  const log = { discarded: 0, keptDisturbed: 0, slowness: [] }
  const slowness = () => slownesses.shift() ?? 1
  const limits = { foreignShareMax: 0.05, slownessMax: 1.4 }
  const createRepeater = () => createRoundRepeater({ ...limits, slowness, log })
  return { log, undisturbed: createRepeater(), createRepeater }
}

t.test('a disturbed round is repeated and counted as discarded', async (t) => {
  const shares = [0.5, 0.01]
  const { undisturbed, log } = judge()
  const round = await undisturbed(async () => ({ foreignShare: shares.shift() ?? 1 }))
  t.equal(round.foreignShare, 0.01)
  t.same(log, { discarded: 1, keptDisturbed: 0, slowness: [1] })
})

t.test('so is one before or after which the machine was slow', async (t) => {
  const { undisturbed, log } = judge([1.5, 1, 1, 1.5, 1.2, 1.3])
  let measured = 0
  const round = await undisturbed(async () => ({ foreignShare: 0, number: ++measured }))
  t.equal(round.number, 3)
  t.same(log, { discarded: 2, keptDisturbed: 0, slowness: [1.3] })
})

t.test(
  'when all tries were disturbed the least disturbed one counts, and it is told',
  async (t) => {
    const shares = [0.1, 0.06, 0.07, 0]
    // Much slower weighs more than a little more of the processors.
    const { undisturbed, log } = judge([1, 1.1, 1, 1.8, 1.4, 1])
    const round = await undisturbed(async () => ({ foreignShare: shares.shift() ?? 1 }))
    t.equal(round.foreignShare, 0.07)
    t.same(log, { discarded: 2, keptDisturbed: 1, slowness: [1.4] })
    t.same(shares, [0], 'no fourth try')
  },
)

t.test(
  'a suite has two repetitions, so that a run ends on a machine that is never quiet',
  async (t) => {
    const { undisturbed, createRepeater, log } = judge()
    let measured = 0
    const disturbed = async () => ({ foreignShare: ++measured })
    for (let round = 0; round < 20; round++) await undisturbed(disturbed)
    t.equal(measured, 22)
    await createRepeater()(disturbed)
    t.equal(measured, 25, 'and the next suite has its own')
    t.match(log, { discarded: 4, keptDisturbed: 21 })
  },
)
