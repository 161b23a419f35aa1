import t from 'tap'
import { uuidv7 } from 'uuidv7'
import { digestIds } from '../checksum.ts'
import { NotExactError, requireExact } from '../visible.ts'

const ids = Array.from({ length: 1_000 }, () => uuidv7())

t.test('the digest does not depend on the order and detects every difference', async (t) => {
  const digest = digestIds(ids)
  t.match(digest, { count: 1_000, distinct: 1_000 })
  t.same(digestIds(ids.toReversed()), digest)
  t.not(digestIds([...ids.slice(1), uuidv7()]).checksum, digest.checksum)
  t.match(digestIds([...ids.slice(1), ids[1] as string]), { count: 1_000, distinct: 999 })
})

t.test('the checksum is the sum of the second halves modulo 2^64', async (t) => {
  const half = (last: string) => `00000000-0000-7000-${last.slice(0, 4)}-${last.slice(4)}`
  t.equal(digestIds([half('0000000000000005'), half('0000000000000007')]).checksum, '12')
  t.equal(digestIds([half('ffffffffffffffff'), half('0000000000000003')]).checksum, '2')
})

t.test('rows lost, repeated, foreign or exchanged are not exact', async (t) => {
  const acknowledged = digestIds(ids)
  requireExact('exact', acknowledged, digestIds(ids.toReversed()))
  const wrong = [
    ids.slice(1),
    [...ids, ids[0] as string],
    [...ids, uuidv7()],
    [...ids.slice(1), uuidv7()],
  ]
  for (const visible of wrong) {
    t.throws(() => requireExact('wrong', acknowledged, digestIds(visible)), NotExactError)
  }
})

t.test('an id that was acknowledged twice is not exact, however often it is visible', async (t) => {
  const twice = digestIds([...ids, ids[0] as string])
  t.throws(() => requireExact('twice', twice, twice), NotExactError)
})
