import t from 'tap'
import { readShards, registerShard, shardPrefix } from '@intake/queue'
import { claimInstallation } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { startShardRecovery } from '../../src/watch/shard-recovery.ts'

t.test('a shard whose registration was lost is found by its mark', async (t) => {
  const server = await ownRedis(t)
  const redis = openRedis(t, server)
  await claimInstallation(redis, 'one')
  for (const shard of [1, 2]) t.equal(await registerShard(redis, shard), 'ready')
  await redis.srem(`${shardPrefix(0)}:shards`, '2')
  let isConfirmed = false
  let asked = 0
  const recovery = startShardRecovery({
    redis,
    isConfirmed: () => ++asked > 0 && isConfirmed,
    intervalMs: 10,
    onError: (error) => t.fail(String(error)),
  })
  t.teardown(() => recovery.close())
  await until('it was asked several times', () => asked > 3)
  t.same(await readShards(redis), [0, 1], 'not in a Redis of another installation')
  isConfirmed = true
  await until('it is found', async () => (await readShards(redis)).includes(2))
})
