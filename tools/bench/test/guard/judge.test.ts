import t from 'tap'
import { createRandom } from '@intake/test-kit/random'
import { judge } from '../../guard/judge.ts'

const runs = 2_000

/**
 * Returns the share of simulated runs whose result is `wanted`. In a run, the ratios of the
 * processes scatter around the true ratio `ratio`.
 */
function shareOf(
  wanted: string,
  { ratio, spread, processes = 8 }: { ratio: number; spread: number; processes?: number },
): number {
  const random = createRandom(20_261_125)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const ratios = () => Array.from({ length: processes }, () => ratio * Math.exp(spread * normal()))
  const verdicts = Array.from({ length: runs }, () => judge(ratios()).verdict)
  return verdicts.filter((verdict) => verdict === wanted).length / runs
}

t.test('the same build is hardly ever beyond the limit, whatever processes differ', async (t) => {
  for (const spread of [0.01, 0.04, 0.1, 0.2]) {
    for (const processes of [5, 6, 10]) {
      const share = shareOf('beyond', { ratio: 1, spread, processes })
      t.ok(share < 0.02, `${processes} processes, spread ${spread}: ${share}`)
    }
  }
  t.ok(shareOf('ok', { ratio: 1, spread: 0.02 }) > 0.99)
  t.ok(shareOf('ok', { ratio: 1, spread: 0.04 }) > 0.7)
})

t.test('10 % are found, and never accepted, when processes differ by 4 %', async (t) => {
  t.ok(shareOf('beyond', { ratio: 1.1, spread: 0.04 }) > 0.85)
  t.ok(shareOf('beyond', { ratio: 1.1, spread: 0.04, processes: 12 }) > 0.95)
  t.ok(shareOf('beyond', { ratio: 1.1, spread: 0.02, processes: 6 }) > 0.99)
  t.equal(shareOf('ok', { ratio: 1.1, spread: 0.04 }), 0)
})

t.test('exactly at the limit each result is wrong in one of twenty runs', async (t) => {
  for (const spread of [0.02, 0.2]) {
    t.ok(shareOf('beyond', { ratio: 1.05, spread }) < 0.06)
    t.ok(shareOf('ok', { ratio: 1.05, spread }) < 0.06)
    t.ok(shareOf('cannot tell', { ratio: 1.05, spread }) > 0.88)
  }
})

t.test('the bounds are those of the signed-rank test', async (t) => {
  // Three of 64 combinations of signs have a rank sum of at most 2.
  const six = judge([1.01, 1.02, 1.03, 1.04, 1.05, 1.06])
  t.equal(six.confidence, 1 - 3 / 64)
  // The bounds leave out the two smallest averages (1.01 with itself, and 1.01 with 1.02) and the
  // two largest.
  t.equal(six.low.toFixed(4), Math.sqrt(1.01 * 1.03).toFixed(4))
  t.equal(six.high.toFixed(4), Math.sqrt(1.04 * 1.06).toFixed(4))
  t.equal(six.ratio.toFixed(4), '1.0350')
})

t.test('one process that is out of line makes it unsure, not wrong', async (t) => {
  t.match(judge([1, 0.99, 1.01, 1.02, 0.98, 1.01, 0.99, 3]), { verdict: 'cannot tell' })
  t.match(judge([1.1, 1.12, 1.09, 1.11, 1.13, 1.1, 1.12, 0.3]), { verdict: 'cannot tell' })
})

t.test('fewer than five processes give no result, even if their ratios are clear', async (t) => {
  const close = (one: number, other: number) => Math.abs(one - other) < 1e-9
  const three = judge([1.2, 1.07, 1.1])
  t.ok(close(three.low, 1.07) && close(three.high, 1.2))
  t.match(three, { ratio: 1.1, confidence: 0.875, verdict: 'cannot tell' })
  t.match(judge([2, 2, 2, 2]), { verdict: 'cannot tell' })
  t.match(judge([1, 1, 1, 1]), { verdict: 'cannot tell' })
  t.match(judge([2, 2, 2, 2, 2]), { verdict: 'beyond' })
  t.match(judge([1, 1, 1, 1, 1]), { verdict: 'ok' })
})
