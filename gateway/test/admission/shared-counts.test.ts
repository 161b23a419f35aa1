import t from 'tap'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createSharedCounts } from '../../src/admission/shared-counts.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)

const windowMs = 60_000
const counts = createSharedCounts({ redis })

t.test('a count that is damaged begins anew, and harms no other API key', async (t) => {
  const key = '{intake}:rate:damaged'
  const plant: [string, () => Promise<unknown>][] = [
    ['garbage', () => redis.set(key, 'garbage')],
    ['nothing', () => redis.set(key, '')],
    ['a fraction', () => redis.set(key, '1.5')],
    ['the largest number', () => redis.set(key, '9223372036854775807', 'PX', windowMs)],
    ['a count that never ends', () => redis.set(key, '1000000')],
    [
      'an hour that the clock of Redis stepped back',
      () => redis.set(key, '9', 'PX', 60 * windowMs),
    ],
    ['another type', () => redis.hset(key, 'a', 'b')],
  ]
  for (const [index, [name, damage]] of plant.entries()) {
    await redis.del(key)
    await damage()
    const added = await counts.add([
      { name: 'before', amount: 1, windowMs },
      { name: 'damaged', amount: 2, windowMs },
      { name: 'after', amount: 3, windowMs },
    ])
    const totals = added.map(({ total }) => total)
    t.same(totals, [index + 1, 2, 3 * (index + 1)], name)
    for (const { msLeft } of added) t.ok(msLeft > 0 && msLeft <= windowMs)
    const [next] = await counts.add([{ name: 'damaged', amount: 5, windowMs }])
    t.equal(next?.total, 7, name)
  }
})
