import t from 'tap'
import { primaryOf } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { shardPrefix } from '../src/index.ts'
import { resolves, shards, startShardedProducer, tags } from './shards/sharded-producer.ts'

t.test('while a server of other shards is silent or refuses, frames are accepted', async (t) => {
  const cluster = await startRedisCluster({
    dataDir: createDataDir(t),
    replicas: 0,
    config: ['cluster-require-full-coverage no'],
  })
  t.teardown(() => cluster.close())
  const { logs, poll, health, sinks, add } = await startShardedProducer(t, cluster, { replicas: 0 })

  const main = await cluster.primaryOf(shardPrefix(0))
  const primaries = await Promise.all(tags.map((tag) => cluster.primaryOf(tag)))
  const other = primaries.find((primary) => primary !== main)!
  const ofOther = shards.filter((shard) => primaries[shard] === other)
  const operator = openRedis(t, other)
  const outages: Record<string, { begin(): unknown; end(): unknown; reason: string }> = {
    frozen: {
      begin: () => other.process.freeze(),
      end: () => other.process.thaw(),
      reason: 'it does not respond',
    },
    dead: {
      begin: () => other.process.kill(),
      end: () => other.process.start(),
      reason: 'it does not respond',
    },
    refusing: {
      begin: () => operator.config('SET', 'min-replicas-to-write', '1'),
      end: () => operator.config('SET', 'min-replicas-to-write', '0'),
      reason: 'Redis has fewer replicas than min-replicas-to-write',
    },
  }
  for (const [outage, { begin, end, reason }] of Object.entries(outages)) {
    await begin()
    // On a busy machine, another server may count as silent for a moment.
    await until(`only it is unusable, because ${reason}`, () => {
      const unusable = poll.unusableServers().join()
      return unusable === `127.0.0.1:${other.port}: ${reason}` && poll.silentMs() < 4_000
    })
    t.match(poll.state(), { writeRefusal: undefined, installation: 'one' }, outage)
    await until('its shards get nothing', async () => {
      const ready = await Promise.all(ofOther.map((shard) => resolves(sinks[shard]!.ready())))
      return !ready.includes(true)
    })
    const added = await Promise.all(Array.from({ length: 12 }, () => add(2_000)))
    t.same(new Set(added), new Set(['added']))

    const { stream } = primaryOf(logs)
    stream.destroy()
    await until('another server is connected again', async () => {
      return (await resolves(sinks[0]!.ready())) && primaryOf(logs).stream !== stream
    })
    t.equal(await add(2_000), 'added')
    await end()
    await until('it can be used again', () => poll.unusableServers().length === 0)
    await until('its shards are used again', () => shards.every(health.isUsable))
  }
})
