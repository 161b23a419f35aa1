import t from 'tap'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import type { Redis } from '@intake/redis'
import { readOldestQueued, shardPrefix } from '../src/index.ts'
import { addFrame, openSink, openSource } from './open-queue.ts'

const redis = openRedis(t, await ownRedis(t))

const noon = Date.UTC(2026, 10, 28, 12)
const shards = [0, 1]

t.test('the oldest frame that is not completed is found in every queue', async (t) => {
  const sinks = shards.map((shard) => openSink(t, redis, { shard }))
  const feedback = openSink(t, redis, { kind: 'feedback' })
  const source = openSource(t, redis)
  const oldest = () => readOldestQueued(redis, shards)
  t.equal(await oldest(), undefined)
  await addFrame(feedback, noon + 3)
  t.equal(await oldest(), noon + 3)
  await addFrame(sinks[0]!, noon)
  await addFrame(sinks[0]!, noon + 2)
  await addFrame(sinks[1]!, noon + 1)
  t.equal(await oldest(), noon)
  const first = await source.claim()
  await source.claim()
  t.equal(await oldest(), noon, 'a claimed frame is still in the queue')
  await source.complete(first!, { claimNext: false })
  t.equal(await oldest(), noon + 1, 'that of another shard')
})

t.test('a shard that cannot be read hides no other', async (t) => {
  const failing = (tags: readonly string[]) =>
    ({
      lindex: (list: string, index: number) =>
        tags.some((tag) => list.startsWith(tag))
          ? Promise.reject(new Error('down'))
          : redis.lindex(list, index),
    }) as Redis
  await addFrame(openSink(t, redis), noon)
  t.equal(await readOldestQueued(failing([shardPrefix(1)]), shards), noon)
  await t.rejects(readOldestQueued(failing(['{intake']), shards), { message: 'down' })
})
