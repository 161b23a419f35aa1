import t from 'tap'
import { judge } from '../../guard/judge.ts'

t.test('the bounds are those of the signed-rank test', async (t) => {
  // Three of 64 combinations of signs have a rank sum of at most 2.
  const six = judge([1.01, 1.02, 1.03, 1.04, 1.05, 1.06])
  t.equal(six.confidence, 1 - 3 / 64)
  // The bounds leave out the two smallest averages (1.01 with itself, and 1.01 with 1.02) and the
  // two largest.
  t.equal(six.low.toFixed(4), Math.sqrt(1.01 * 1.03).toFixed(4))
  t.equal(six.high.toFixed(4), Math.sqrt(1.04 * 1.06).toFixed(4))
  t.equal(six.ratio.toFixed(4), '1.0350')
  t.equal(judge(Array<number>(10).fill(1)).confidence, 1 - 43 / 1024)
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
  t.match(judge([1.06, 1.06, 1.06, 1.06, 1.06]), { verdict: 'beyond' })
  t.match(judge([1.04, 1.04, 1.04, 1.04, 1.04]), { verdict: 'ok' })
  t.match(judge([1, 1.06, 1.06, 1.06, 1.06]), { verdict: 'cannot tell' })
})
