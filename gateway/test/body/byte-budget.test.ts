import t from 'tap'
import { createByteBudget, createShares } from '../../src/body/byte-budget.ts'

const budgetOf = (bytesMax: number, requestsMax = 100) =>
  createByteBudget({ bytesMax, requests: createShares(requestsMax) })

t.test('declared bytes are not reserved: bytes count when they arrive', async (t) => {
  const budget = budgetOf(300)
  const leases = Array.from({ length: 10 }, () =>
    budget.lease({ account: 'a', expectedBytes: 200 }),
  )
  budget.lease({ account: 'b', expectedBytes: 200 })
  leases[0]?.extend(200)
  t.throws(() => leases[1]?.extend(1), { code: 'busy' })
  t.throws(() => budget.lease({ account: 'a', expectedBytes: 1 }), { code: 'busy' })
})

t.test('neither one API key nor two can use the share that the others need', async (t) => {
  const budget = budgetOf(300)
  const greedy = budget.lease({ account: 'a', expectedBytes: 0 })
  greedy.extend(200)
  t.throws(() => greedy.extend(1), { code: 'busy' })
  const other = budget.lease({ account: 'b', expectedBytes: 0 })
  other.extend(66)
  t.throws(() => other.extend(5), { code: 'busy' })
  budget.lease({ account: 'c', expectedBytes: 0 }).extend(20)
})

t.test('one API key cannot occupy all request slots', async (t) => {
  const budget = budgetOf(300, 6)
  const lease = () => budget.lease({ account: 'a', expectedBytes: 0 })
  const [first] = [lease(), lease(), lease(), lease()]
  t.throws(lease, { code: 'busy' })
  budget.lease({ account: 'b', expectedBytes: 0 }).release()
  first?.release()
  lease()
})

t.test('a client that disconnects frees nothing while its request is processed', async (t) => {
  const budget = budgetOf(150)
  const lease = budget.lease({ account: 'a', expectedBytes: 60 })
  lease.extend(60)
  let finish = () => {}
  const work = lease.retainWhile(new Promise<void>((resolve) => (finish = resolve)))
  lease.release()
  t.throws(() => budget.lease({ account: 'a', expectedBytes: 60 }), { code: 'busy' })
  t.throws(() => lease.extend(1), { code: 'malformed_http' })
  finish()
  await work
  budget.lease({ account: 'a', expectedBytes: 100 })
})

t.test('work that fails or ends before the response also releases its bytes', async (t) => {
  const budget = budgetOf(150)
  const lease = budget.lease({ account: 'a', expectedBytes: 0 })
  lease.extend(60)
  await t.rejects(lease.retainWhile(Promise.reject(new Error('refused'))), { message: 'refused' })
  t.throws(() => budget.lease({ account: 'a', expectedBytes: 60 }), { code: 'busy' })
  lease.extend(40)
  t.throws(() => lease.extend(1), { code: 'busy' })
  lease.release()
  lease.release()
  budget.lease({ account: 'a', expectedBytes: 100 }).extend(100)
})

t.test('an account finds capacity in the smallest total that is allowed', async (t) => {
  t.ok(createShares(2).take('key', 1))
})
