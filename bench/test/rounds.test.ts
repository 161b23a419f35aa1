import t from 'tap'
import { abbaOrder, createRounds, measureEach } from '../rounds.ts'

t.test('variants run forwards and backwards in turn', async (t) => {
  t.same(abbaOrder(['a', 'b', 'c'], 3), ['a', 'b', 'c', 'c', 'b', 'a', 'a', 'b', 'c'])
  t.same(abbaOrder(['a', 'b'], 0), [])
})

/**
 * Measurements during which others used so much, and the load generator so much per event, one after
 * the other; then nothing and no load. A measurement gives the number of its try.
 */
function build(found: { foreignShares?: number[]; loadCpu?: number[] } = {}) {
  const { foreignShares = [], loadCpu = [] } = found
  const rounds = createRounds({ foreignShareMax: 0.05, slownessMax: 1.4, repetitions: 3 })
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

t.test('what is not judged is measured once', async (t) => {
  const { tried, measure } = build({ foreignShares: [1, 1] })
  t.same(numbers(await measureEach(['a', 'b'], measure)), [1, 2])
  t.same(tried, ['a', 'b'])
})

t.test('rounds that were not disturbed are measured once', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [20, 60, 27, 50] })
  const measured = await rounds.measure(['a', 'b', 'a', 'b'], measure)
  t.same(numbers(measured), [1, 2, 3, 4])
  t.same(tried, ['a', 'b', 'a', 'b'])
  t.same(rounds.summary(), {
    rounds: 4,
    disturbed: 0,
    repeated: 0,
    slowness: { median: 1.1, max: 1.35 },
  })
})

t.test(
  'a round during which others used the processors is measured again, at the end',
  async (t) => {
    const { rounds, tried, measure } = build({ foreignShares: [0.5] })
    const measured = await rounds.measure(['a', 'b'], measure)
    t.same(tried, ['a', 'b', 'a'])
    t.same(numbers(measured), [3, 2], 'in the order that was asked for')
    t.match(rounds.summary(), { rounds: 2, disturbed: 0, repeated: 1 })
  },
)

t.test(
  'so is one in which the load generator needed more than in another of its kind',
  async (t) => {
    const { rounds, tried, measure } = build({ loadCpu: [20, 60, 29, 61, 22] })
    const measured = await rounds.measure(['a', 'b', 'a', 'b'], measure)
    t.same(tried, ['a', 'b', 'a', 'b', 'a'])
    t.same(numbers(measured), [1, 2, 5, 4])
    t.match(rounds.summary(), { disturbed: 0, slowness: { max: 1.1 } })
  },
)

t.test('a faster repetition shows that the others were slow', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [30, 28, 15, 16], foreignShares: [0, 0.06] })
  await rounds.measure(['a', 'a'], measure, 2)
  t.same(tried, ['a', 'a', 'a', 'a'])
  t.match(rounds.summary(), { disturbed: 0, repeated: 2 })
})

t.test('rounds of another call are not of the same kind', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [10, 30] })
  await rounds.measure(['a'], measure, 1)
  await rounds.measure(['a'], measure, 1)
  t.same(tried, ['a', 'a'])
})

t.test('the most disturbed come first, and the least disturbed try counts', async (t) => {
  // Much slower weighs more than a little more of the processors.
  const { rounds, tried, measure } = build({
    foreignShares: [0.06, 0, 0, 0.07, 0, 0.08],
    loadCpu: [10, 18, 10, 10, 19, 10],
  })
  const measured = await rounds.measure(['a', 'b', 'b', 'c'], measure, 2)
  t.same(tried, ['a', 'b', 'b', 'c', 'b', 'b'])
  t.same(numbers(measured), [1, 6, 3, 4])
  t.match(rounds.summary(), { rounds: 4, disturbed: 3, repeated: 2 })
})

t.test('on a machine that is never quiet the repetitions end', async (t) => {
  const { rounds, tried, measure } = build({ foreignShares: Array.from({ length: 20 }, () => 1) })
  await rounds.measure(['a', 'b'], measure)
  t.equal(tried.length, 5)
  await rounds.measure(['c'], measure, 0)
  t.equal(tried.length, 6)
  t.match(rounds.summary(), { rounds: 3, disturbed: 3, repeated: 3 })
})
