import t from 'tap'
import { abbaOrder, createRounds, measureEach } from '../rounds.ts'

t.test('variants run forwards and backwards in turn', async (t) => {
  t.same(abbaOrder(['a', 'b', 'c'], 3), ['a', 'b', 'c', 'c', 'b', 'a', 'a', 'b', 'c'])
  t.same(abbaOrder(['a', 'b'], 0), [])
})

/**
 * Simulates successive measurements. Each takes the next value of `foreignShares` and the next
 * value of `loadCpu`. After the end of these lists, the foreign share is 0, and the load
 * generator's CPU is not known. Each measurement returns its number.
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

t.test('rounds without a limit are measured once', async (t) => {
  const { tried, measure } = build({ foreignShares: [1, 1] })
  t.same(numbers(await measureEach(['a', 'b'], measure)), [1, 2])
  t.same(tried, ['a', 'b'])
})

t.test('turns that were not disturbed are measured once', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [20, 60, 50, 27] })
  const measured = await rounds.measure({ items: ['a', 'b'], turns: 2 }, measure)
  t.same(numbers(measured), [1, 2, 3, 4])
  t.same(tried, ['a', 'b', 'b', 'a'])
  t.same(rounds.summary(), {
    rounds: 4,
    disturbed: 0,
    repeated: 0,
    slowness: { median: 1.1, max: 1.35 },
  })
})

t.test('a turn in which other programs used the processors is repeated at the end', async (t) => {
  const { rounds, tried, measure } = build({ foreignShares: [0, 0, 0.5] })
  const measured = await rounds.measure({ items: ['a', 'b'], turns: 3 }, measure)
  t.same(tried, ['a', 'b', 'b', 'a', 'a', 'b', 'b', 'a'], 'as a whole, and in its own order')
  t.same(numbers(measured), [1, 2, 7, 8, 5, 6], 'in the order of the turns')
  t.match(rounds.summary(), { rounds: 6, disturbed: 0, repeated: 2 })
})

t.test('a turn with a round in which the load generator needed more is repeated too', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [20, 60, 61, 29, 62, 22] })
  const measured = await rounds.measure({ items: ['a', 'b'], turns: 2 }, measure)
  t.same(tried, ['a', 'b', 'b', 'a', 'b', 'a'])
  t.same(numbers(measured), [1, 2, 5, 6])
  t.match(rounds.summary(), { disturbed: 0, slowness: { max: 1.1 } })
})

t.test('a faster repetition shows that the others were slow', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [30, 28, 15, 16], foreignShares: [0, 0.06] })
  await rounds.measure({ items: ['a'], turns: 2, repetitions: 2 }, measure)
  t.same(tried, ['a', 'a', 'a', 'a'])
  t.match(rounds.summary(), { disturbed: 0, repeated: 2 })
})

t.test('rounds of another call are not compared', async (t) => {
  const { rounds, tried, measure } = build({ loadCpu: [10, 30] })
  await rounds.measure({ items: ['a'], turns: 1 }, measure)
  await rounds.measure({ items: ['a'], turns: 1 }, measure)
  t.same(tried, ['a', 'a'])
})

t.test('the most disturbed turns come first, and the least disturbed try counts', async (t) => {
  // A round that is much slower counts as more disturbed than a round whose foreign share is
  // slightly above the limit.
  const { rounds, tried, measure } = build({
    foreignShares: [0.06, 0, 0, 0, 0, 0.07],
    loadCpu: [10, 10, 18, 10, 19, 10, 10, 17],
  })
  const plan = { items: ['a', 'b'], turns: 2, repetitions: 2 }
  const measured = await rounds.measure(plan, measure)
  t.same(tried, ['a', 'b', 'b', 'a', 'b', 'a', 'b', 'a'])
  t.same(numbers(measured), [1, 2, 7, 8])
  t.match(rounds.summary(), { rounds: 4, disturbed: 2, repeated: 4 })
})

t.test('repetitions are limited on a machine that is never quiet', async (t) => {
  const { rounds, tried, measure } = build({ foreignShares: Array.from({ length: 20 }, () => 1) })
  await rounds.measure({ items: ['a', 'b'], turns: 1 }, measure)
  t.equal(tried.length, 8)
  await rounds.measure({ items: ['c'], turns: 1, repetitions: 0 }, measure)
  t.equal(tried.length, 9)
  t.match(rounds.summary(), { rounds: 3, disturbed: 3, repeated: 6 })
})
