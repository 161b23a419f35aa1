import t from 'tap'
import { startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import { findWriteRefusal, isOutOfMemory, requireMemory } from '../src/index.ts'

t.test('exhausted memory is found, which a deletion does not find', async (t) => {
  const server = await startRedis({ dataDir: createDataDir(t), port: 0, maxmemory: '100mb' })
  t.teardown(() => server.stop())
  const redis = openRedis(t, server)
  await until('it is connected', () => redis.status === 'ready')
  await requireMemory(redis)
  await redis.config('SET', 'maxmemory', '1')
  const error: unknown = await requireMemory(redis).catch((reason: unknown) => reason)
  t.equal(isOutOfMemory(error), true)
  t.equal(await findWriteRefusal(redis), undefined)
  t.same(await redis.keys('*'), [], 'nothing was stored')
  await redis.config('SET', 'maxmemory', '100mb')
  await requireMemory(redis)
})
