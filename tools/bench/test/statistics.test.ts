import t from 'tap'
import { median, percentilesOf } from '../statistics.ts'

t.test('percentiles are those of all values: one slow request is visible', async (t) => {
  const times = Array.from({ length: 999 }, () => 2).concat(1_000)
  t.match(percentilesOf(times), { count: 1_000, p99: 2, max: 1_000 })
  t.equal(percentilesOf([10, 9, 100]).p50, 10)
})

t.test('of no values there is no median and no percentile', async (t) => {
  t.ok(Number.isNaN(median([])))
  t.match(percentilesOf([]), { count: 0, p50: NaN, max: NaN })
})
