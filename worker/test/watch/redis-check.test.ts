import t from 'tap'
import { registerShard, shardPrefix } from '@intake/queue'
import { claimInstallation, isOutOfMemory, primaryOf } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { startRedisCheck } from '../../src/watch/redis-check.ts'

t.test('the servers of all asked shards are checked', async (t) => {
  const cluster = await startRedisCluster({
    dataDir: createDataDir(t),
    replicas: 0,
    config: ['cluster-require-full-coverage no'],
  })
  t.teardown(() => cluster.close())
  const redis = openRedis(t, cluster)
  await claimInstallation(redis, 'one')
  const shards = [1, 2, 3]
  for (const shard of shards) t.equal(await registerShard(redis, shard), 'ready')
  const start = (asked: readonly number[]) => {
    const tags = async () => asked.map(shardPrefix)
    const check = startRedisCheck({ redis, tags, intervalMs: 50, timeoutMs: 3_000 })
    t.teardown(() => check.close())
    return check
  }
  const check = start([0])
  const shardCheck = start(shards)
  const areWell = () => [check, shardCheck].every(({ problem }) => problem() === undefined)
  await until('all is well', areWell)

  const main = await cluster.primaryOf(shardPrefix(0))
  const primaries = await Promise.all(shards.map((shard) => cluster.primaryOf(shardPrefix(shard))))
  const index = primaries.findIndex((primary) => primary !== main)
  const other = primaryOf(redis, shardPrefix(shards[index]!))

  await other.config('SET', 'maxmemory', '1')
  await until('it is full', () => isOutOfMemory(shardCheck.error()))
  t.notOk(isOutOfMemory(check.error()), 'that of {intake} is not')
  await other.config('SET', 'maxmemory', '0')
  await until('it is not', areWell)

  await other.config('SET', 'min-replicas-to-write', '5')
  await until('it refuses', () => shardCheck.problem()?.includes('min-replicas-to-write'))
  t.equal(check.problem(), undefined)
  await other.config('SET', 'min-replicas-to-write', '0')
  await until('it does not', areWell)

  await primaries[index]!.process.kill()
  await until('it is lost', () => shardCheck.problem()?.startsWith('not connected to 127.0.0.1'))
  t.equal(check.problem(), undefined)
})
