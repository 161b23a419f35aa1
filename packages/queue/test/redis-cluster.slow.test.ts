import t, { type Test } from 'tap'
import { createConnectionCheck, pollRedisState, type RedisRole } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { systemClock } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { compress } from '@intake/queue/frame'
import { createBacklogReader, queuePrefix } from '../src/index.ts'
import { createFrameConsumer, createJobSource } from '../src/consume.ts'
import { createFrameProducer, createJobSink } from '../src/produce.ts'

const cluster = await startRedisCluster({ dataDir: createDataDir(t), replicas: 1 })
t.teardown(() => cluster.close())

const open = (t: Test, role: RedisRole) => openRedis(t, cluster, role)

const frame = () => {
  const row = Buffer.from('{"a":1}\n')
  return { ...compress(row), rows: 1, jsonBytes: row.length, receivedAtMs: Date.now() }
}
const soon = () => systemClock.now() + 60_000

t.test('frames pass through a cluster, and a primary that is killed', async (t) => {
  const [producerRedis, consumerRedis] = [open(t, 'producer'), open(t, 'consumer')]
  const check = createConnectionCheck(producerRedis)
  const poll = pollRedisState({
    redis: producerRedis,
    tags: [queuePrefix, '{intake:00}', '{intake:01}', '{intake:02}'],
    replicasMin: 1,
    intervalMs: 50,
    onError: () => undefined,
  })
  t.teardown(() => poll.close())
  const sink = createJobSink({ redis: producerRedis, kind: 'logs' })
  const producer = createFrameProducer({ sink })
  const source = createJobSource({ redis: consumerRedis, kind: 'logs', onError: () => undefined })
  t.teardown(() => source.close())
  const consumer = createFrameConsumer({
    source,
    onError: () => undefined,
    onUnreadable: (error) => t.fail(error.message),
    onLocksLost: () => undefined,
  })
  t.teardown(() => consumer.close())
  const limits = { framesMax: 100, compressedBytesMax: 1e9, jsonBytesMax: 1e9 }

  await until('the state is known', () => poll.state() !== undefined)
  t.match(poll.state(), { writeRefusal: undefined, durabilityViolations: [] })
  t.equal(check(), undefined)
  await producer.add(frame(), soon())
  await producer.add(frame(), soon())
  const batch = await consumer.take(limits)
  t.ok((batch?.frames.length ?? 0) > 0)
  await batch?.complete()

  const primary = await cluster.primaryOf(queuePrefix)
  await primary.process.kill()
  const failed: string[] = []
  await until('a frame is added again', () =>
    producer.add(frame(), systemClock.now() + 500).then(
      () => true,
      (error: Error & { code?: string }) => {
        failed.push(error.code ?? String(error))
        return false
      },
    ),
  )
  const seen = failed.filter((code) => code !== 'queue_unavailable' && code !== 'outcome_unknown')
  t.same(seen, [], 'meanwhile it fails with codes that may be repeated')
  t.ok(failed.includes('queue_unavailable'), 'nothing is unknown while nothing is sent')
  let drained = 0
  await until('the consumer has found the new primary', async () => {
    const next = await consumer.take(limits)
    drained += next?.frames.length ?? 0
    await next?.complete()
    return drained > 0
  })
  await until('the state is that of the new primary', () =>
    Boolean(poll.state()?.writeRefusal?.includes('0 replicas')),
  )
  await primary.process.start()
  await cluster.untilWhole()
  await until('the gateway would accept again', () => poll.state()?.writeRefusal === undefined)
  const backlogs = createBacklogReader({ redis: consumerRedis })
  t.equal(await backlogs(), undefined, 'no installation')
})
