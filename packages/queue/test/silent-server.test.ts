import t from 'tap'
import { gzipSync } from 'node:zlib'
import {
  claimInstallation,
  connectRedis,
  createExamination,
  pollRedisState,
  primaryOf,
} from '@intake/redis'
import { systemClock } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import {
  createFrameProducer,
  createJobSink,
  createShardRouter,
  shardPrefix,
  startShardHealth,
} from '../src/index.ts'

const onError = () => {}
const shards = [0, 1, 2, 3]
const tags = shards.map(shardPrefix)

t.test('while a server of other shards is silent or refuses, frames are accepted', async (t) => {
  const cluster = await startRedisCluster({
    dataDir: createDataDir(t),
    replicas: 0,
    config: ['cluster-require-full-coverage no'],
  })
  t.teardown(() => cluster.close())
  const redis = connectRedis({ url: cluster.url, role: 'producer', onError })
  t.teardown(() => redis.disconnect())
  await until('it is an installation', () =>
    claimInstallation(redis, 'one').then(
      () => true,
      () => false,
    ),
  )
  const poll = pollRedisState({ redis, tags, intervalMs: 200, onError })
  const health = startShardHealth({ redis, shards: shards.length, onError })
  const { requireExamined } = createExamination({ redis, tags, refusalOf: poll.refusalOf })
  const sinks = shards.map((shard) =>
    createJobSink({ redis, kind: 'logs', shard, requireExamined }),
  )
  t.teardown(async () => {
    poll.close()
    health.close()
    await Promise.all(sinks.map((sink) => sink.close()))
  })
  const producer = createFrameProducer({
    route: createShardRouter({ sinks, isUsable: health.isUsable }),
  })
  const row = Buffer.from('{"a":1}\n')
  const frame = { gzip: gzipSync(row), rows: 1, jsonBytes: row.length }
  const add = () =>
    producer.add({ ...frame, receivedAtMs: Date.now() }, systemClock.now() + 2_000).then(
      () => 'added',
      (error: { code: string }) => error.code,
    )
  await until('all shards are usable', () => shards.every(health.isUsable))
  await until('the state is known', () => poll.state() !== undefined)

  const main = await cluster.primaryOf(shardPrefix(0))
  const primaries = await Promise.all(tags.map((tag) => cluster.primaryOf(tag)))
  const other = primaries.find((primary) => primary !== main)!
  const ofOther = shards.filter((shard) => primaries[shard] === other)
  const operator = connectRedis({ url: other.url, role: 'consumer', onError })
  t.teardown(() => operator.disconnect())
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
    await until('it is known', () => poll.unusableServers().length > 0, { stallMs: 30_000 })
    t.same(poll.unusableServers(), [`127.0.0.1:${other.port}: ${reason}`], outage)
    t.ok(poll.silentMs() < 4_000, `the other servers respond: ${poll.silentMs()} ms`)
    t.match(poll.state(), { writeRefusal: undefined, installation: 'one' })
    await until('its shards get nothing', async () => {
      const ready = ofOther.map((shard) => sinks[shard]!.ready())
      return (await Promise.allSettled(ready)).every(({ status }) => status === 'rejected')
    })
    t.same(new Set(await Promise.all(Array.from({ length: 12 }, add))), new Set(['added']))

    const { stream } = primaryOf(redis)
    stream.destroy()
    await until('another server is connected again', () =>
      sinks[0]!.ready().then(
        () => primaryOf(redis).stream !== stream,
        () => false,
      ),
    )
    t.equal(await add(), 'added')
    await end()
    await until('it can be used again', () => poll.unusableServers().length === 0)
    await until('its shards are used again', () => shards.every(health.isUsable))
  }
})
