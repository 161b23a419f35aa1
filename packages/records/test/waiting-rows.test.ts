import t from 'tap'
import type { QueuedFrames } from '@intake/queue'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { stillWaiting } from '../src/erasure/waiting-rows.ts'

const redis = openRedis(t, await ownRedis(t))

t.test('more frames than a call may have arguments can wait', async (t) => {
  const queueWith = (isLeft: (id: string) => boolean): QueuedFrames => ({
    list: async () => [],
    read: async () => undefined,
    remaining: async (ids) => ids.filter(isLeft),
  })
  const [all, even] = [queueWith(() => true), queueWith((id) => Number(id) % 2 === 0)]
  const framesOf = (queue: QueuedFrames) =>
    Array.from({ length: 200_000 }, (_, id) => ({ queue, id: String(id) }))
  const left = await stillWaiting(redis, [...framesOf(all), ...framesOf(even)])
  t.equal(left.length, 300_000)
  t.same(left.at(-1), { queue: even, id: '199998' })
})
