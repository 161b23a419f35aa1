import t from 'tap'
import { createShares } from '../../src/body/byte-budget.ts'

t.test('an account finds capacity in the smallest total that is allowed', async (t) => {
  t.ok(createShares(2).take('key', 1))
})
