import t from 'tap'
import { primaryOf } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { resolves, startShardedProducer, tags } from './sharded-producer.ts'

t.test('shards of a cluster keep what replicas confirmed through a failover', async (t) => {
  const cluster = await startRedisCluster({ dataDir: createDataDir(t), replicas: 1 })
  t.teardown(() => cluster.close())
  const producer = await startShardedProducer(t, cluster, { replicas: 1 })
  const { main, logs, poll, health, sinks } = producer
  const outcomes: string[] = []
  const add = async (timeoutMs = 60_000) => void outcomes.push(await producer.add(timeoutMs))
  const count = (outcome: string) => outcomes.filter((one) => one === outcome).length
  const lengths = () => Promise.all(tags.map((tag) => main.llen(`${tag}:logs:wait`)))

  await Promise.all(Array.from({ length: 40 }, () => add()))
  t.equal(count('added'), 40)
  const before = await lengths()
  t.ok(
    before.every((length) => length >= 5),
    `all shards get frames: ${before.join()}`,
  )

  const ofShard0 = await cluster.primaryOf(tags[0]!)
  const primaries = await Promise.all(tags.map((tag) => cluster.primaryOf(tag)))
  const shard = primaries.findIndex((primary) => primary !== ofShard0)
  const primary = primaries[shard]!
  const flight = Array.from({ length: 20 }, () => add(8_000))
  await primary.process.kill()
  await Promise.all(flight)
  await until('the replica has taken over', async () => {
    const now = await cluster.primaryOf(tags[shard]!)
    return now !== primary
  })
  await until(
    'it is known that it has no replica',
    () => poll.refusalOf(tags[shard]!)?.includes('Redis has 0 replicas') ?? false,
  )
  const elsewhere = await Promise.all(Array.from({ length: 12 }, () => producer.add(4_000)))
  t.same(new Set(elsewhere), new Set(['added']), 'the other shards get the frames')
  outcomes.push(...elsewhere)
  await primary.process.start()
  await cluster.untilWhole()
  await until('the shard is usable again', () => health.isUsable(shard))
  await until('a frame can be sent to it', () => resolves(sinks[shard]!.ready()))
  await Promise.all(Array.from({ length: 20 }, () => add()))
  t.same(
    outcomes.filter((one) => !['added', 'outcome_unknown', 'queue_unavailable'].includes(one)),
    [],
  )
  const after = (await lengths()).reduce((sum, length) => sum + length)
  const [added, unknown] = [count('added'), count('outcome_unknown')]
  t.ok(added >= 60, `${added} added`)
  t.ok(after >= added && after <= added + unknown, `${after} of ${added} + ${unknown} frames`)

  // Closes the connection of `logs` to one server and deletes all marks on this server, as if the
  // server had lost its data. The sinks must detect this loss after they have connected again.
  const server = primaryOf(logs, tags[shard])
  const held = tags.filter((tag) => primaryOf(logs, tag) === server)
  server.stream.destroy()
  await Promise.all(held.map((tag) => main.del(`${tag}:installation`)))
  await until('it is connected again', () =>
    sinks[shard]!.ready().then(
      () => false,
      (error: Error) => error.message === 'Redis belongs to no installation',
    ),
  )
})
