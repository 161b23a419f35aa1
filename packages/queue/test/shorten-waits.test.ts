import t from 'tap'
import { startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import { queueNames, queuePrefix } from '../src/index.ts'
import { addFrame, openSink, openSource } from './open-queue.ts'

const hourMs = 3_600_000
const lockMs = 15_000

t.test('locks and pauses end in time although a clock stepped back', async (t) => {
  const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
  t.teardown(() => server.stop())
  const redis = openRedis(t, server, 'consumer')
  const sink = openSink(t, openRedis(t, server, 'producer'))
  const source = openSource(t, redis)
  for (let n = 1; n <= 3; n++) await addFrame(sink, n)
  const [killed, early, ahead] = [await source.claim(), await source.claim(), await source.claim()]
  await source.postpone(early!, hourMs / 2)
  // As by a worker whose clock was ahead.
  await source.postpone(ahead!, 2 * hourMs)
  // As after a step of Redis's clock by an hour.
  const prefix = `${queuePrefix}:${queueNames.logs}:`
  const expiring = [`${prefix}stalled-check`, `${prefix}${killed!.id}:lock`]
  for (const key of expiring) await redis.set(key, '', 'PX', hourMs)

  const other = openSource(t, redis)
  await until('locks end in time', async () => {
    const ttls = await Promise.all(expiring.map((key) => redis.pttl(key)))
    return ttls.every((ttl) => ttl <= lockMs)
  })
  t.equal((await other.claim())?.id, ahead!.id)
  t.equal(await other.claim(), undefined, 'the other pause has not ended')
})
