import t from 'tap'
import { median, percentile, percentilesOf, slope } from '../statistics.ts'

t.test('the median of an even number of values is between the two in the middle', async (t) => {
  t.equal(median([9, 1, 5]), 5)
  t.equal(median([4, 1, 2, 3]), 2.5)
  t.ok(Number.isNaN(median([])))
})

t.test(
  'a percentile is a measured value: the smallest that enough values do not exceed',
  async (t) => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1)
    t.equal(percentile(hundred, 0.5), 50)
    t.equal(percentile(hundred, 0.99), 99)
    t.equal(percentile(hundred, 0.999), 100)
    t.equal(percentile(hundred, 0), 1)
    t.equal(percentile([7], 0.5), 7)
  },
)

t.test('percentiles sort numerically, and one slow request is visible', async (t) => {
  const times = Array.from({ length: 999 }, () => 2).concat(1_000)
  t.match(percentilesOf(times), { count: 1_000, p50: 2, p99: 2, p999: 2, max: 1_000 })
  t.equal(percentilesOf([10, 9, 100]).p50, 10)
})

t.test('the slope of points on a line is that of the line', async (t) => {
  const points = [0, 1, 2, 5].map((x) => ({ x, y: 3 * x + 7 }))
  t.ok(Math.abs(slope(points) - 3) < 1e-9)
  t.equal(
    slope([
      { x: 0, y: 5 },
      { x: 1, y: 5 },
      { x: 2, y: 5 },
    ]),
    0,
  )
})
