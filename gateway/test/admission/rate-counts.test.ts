import t from 'tap'
import { connectRedis } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createRateCounts } from '../../src/admission/rate-counts.ts'

const server = await ownRedis(t)
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())

const windowMs = 60_000
const counts = createRateCounts({ redis, windowMs })

t.test('a count that is damaged begins anew, and harms no other API key', async (t) => {
  const key = '{intake}:rate:damaged'
  const plant: [string, () => Promise<unknown>][] = [
    ['garbage', () => redis.set(key, 'garbage')],
    ['nothing', () => redis.set(key, '')],
    ['a fraction', () => redis.set(key, '1.5')],
    ['the largest number', () => redis.set(key, '9223372036854775807', 'PX', windowMs)],
    ['a count that never ends', () => redis.set(key, '1000000')],
    ['another type', () => redis.hset(key, 'a', 'b')],
  ]
  for (const [index, [name, damage]] of plant.entries()) {
    await redis.del(key)
    await damage()
    const added = await counts.add([
      { apiKeyId: 'before', requests: 1 },
      { apiKeyId: 'damaged', requests: 2 },
      { apiKeyId: 'after', requests: 3 },
    ])
    const requests = added.map((count) => count.requests)
    t.same(requests, [index + 1, 2, 3 * (index + 1)], name)
    for (const { msLeft } of added) t.ok(msLeft > 0 && msLeft <= windowMs)
    const [next] = await counts.add([{ apiKeyId: 'damaged', requests: 5 }])
    t.equal(next?.requests, 7, name)
  }
})
