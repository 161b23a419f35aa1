import t from 'tap'
import { abbaOrder, createRounds } from '../rounds.ts'

t.test('variants run forwards and backwards in turn', async (t) => {
  t.same(abbaOrder(['a', 'b', 'c'], 3), ['a', 'b', 'c', 'c', 'b', 'a', 'a', 'b', 'c'])
  t.same(abbaOrder(['a', 'b'], 0), [])
})

/**
 * Rounds on a machine whose yardstick takes these times, one look after the other, before and after
 * each try; then 1. A measurement gives the number of its try.
 */
function build(
  yardstickMs: number[] = [],
  foreignShares: number[] = [],
  loadCpu: (number | undefined)[] = [],
) {
  const rounds = createRounds({
    foreignShareMax: 0.05,
    slownessMax: 1.4,
    yardstick: async () => yardstickMs.shift() ?? 1,
  })
  const tried: string[] = []
  const measure = async (item: string) => {
    const load = loadCpu.shift()
    return {
      item,
      number: tried.push(item),
      foreignShare: foreignShares.shift() ?? 0,
      ...(load !== undefined && { cpuPerEvent: { load } }),
    }
  }
  return { rounds, tried, measure }
}

const numbers = (measured: { number: number }[]) => measured.map(({ number }) => number)

t.test('rounds that were not disturbed are measured once', async (t) => {
  const { rounds, tried, measure } = build()
  const measured = await rounds.measure(['a', 'b'], measure, 3)
  t.match(measured, [{ item: 'a' }, { item: 'b' }])
  t.same(tried, ['a', 'b'])
  t.same(rounds.summary(), {
    rounds: 2,
    disturbed: 0,
    repeated: 0,
    slowness: { median: 1, max: 1 },
  })
})

t.test(
  'a round during which others used the processors is measured again, at the end',
  async (t) => {
    const { rounds, tried, measure } = build([], [0.5])
    const measured = await rounds.measure(['a', 'b'], measure, 3)
    t.same(tried, ['a', 'b', 'a'])
    t.same(numbers(measured), [3, 2], 'in the order that was asked for')
    t.match(rounds.summary(), { rounds: 2, disturbed: 0, repeated: 1 })
  },
)

t.test('so is one before or after which the machine was slow', async (t) => {
  const { rounds, tried, measure } = build([1.5, 1, 1, 1.5, 1.2, 1.3])
  await rounds.measure(['a', 'b', 'c'], measure, 3)
  t.same(tried, ['a', 'b', 'c', 'a', 'b'])
  t.match(rounds.summary(), { disturbed: 0, slowness: { median: 1, max: 1.3 } })
})

t.test(
  'slow is in comparison with the fastest of the whole run, later ones included',
  async (t) => {
    const { rounds, tried, measure } = build([1.5, 1.5, 1, 1])
    await rounds.measure(['a', 'b'], measure, 3)
    t.same(tried, ['a', 'b', 'a'])
  },
)

t.test('so is one during which the load generator used more than at other times', async (t) => {
  const { rounds, tried, measure } = build([], [], [20, 60, 29, 61, 22])
  const measured = await rounds.measure(['a', 'b', 'a', 'b'], measure, 3)
  t.same(tried, ['a', 'b', 'a', 'b', 'a'], 'in comparison with rounds of the same kind only')
  t.same(numbers(measured), [1, 2, 5, 4])
  t.match(rounds.summary(), { disturbed: 0, slowness: { max: 1.1 } })
})

t.test('the most disturbed come first, and the least disturbed try counts', async (t) => {
  // Much slower weighs more than a little more of the processors.
  const { rounds, tried, measure } = build(
    [1, 1, 1, 1.8, 1, 1, 1, 1.9, 1, 1],
    [0.06, 0, 0.07, 0, 0.08],
  )
  const measured = await rounds.measure(['a', 'b', 'c'], measure, 2)
  t.same(tried, ['a', 'b', 'c', 'b', 'b'])
  t.same(numbers(measured), [1, 5, 3])
  t.match(rounds.summary(), { rounds: 3, disturbed: 3, repeated: 2 })
})

t.test('on a machine that is never quiet the repetitions end', async (t) => {
  const { rounds, tried, measure } = build(
    [],
    Array.from({ length: 20 }, () => 1),
  )
  await rounds.measure(['a', 'b'], measure, 3)
  t.equal(tried.length, 5)
  await rounds.measure(['c'], measure, 0)
  t.equal(tried.length, 6)
  t.match(rounds.summary(), { rounds: 3, disturbed: 3, repeated: 3 })
})
