import { toShards } from '../../src/shards/shard-registry.ts'
import t, { type Test } from 'tap'
import { claimInstallation, primaryOf } from '@intake/redis'
import { TimeoutError } from '@intake/runtime'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import {
  createQueuedFrames,
  createBacklogReader,
  findLostShards,
  markShards,
  readShards,
  registerShard,
  restoreRegistry,
  shardMarkKey,
  shardPrefix,
  shardsMax,
  startShardHealth,
} from '../../src/index.ts'
import {
  createFrameConsumer,
  createJobSource,
  createQueuePause,
  createShardedSource,
} from '../../src/consume.ts'
import { createShardedProducer } from '../../src/produce.ts'
import { frame, openSink, openSource, soon } from '../open-queue.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)
const noon = Date.UTC(2026, 10, 23, 12)
const limits = { framesMax: 100, compressedBytesMax: 1e6, jsonBytesMax: 1e6 }
const read = createBacklogReader({ redis })

/** Empties Redis and creates an installation in it. */
async function setUp() {
  await redis.flushall()
  await claimInstallation(redis, 'test')
}

/** Starts a gateway with this many shards, all of them registered. */
async function startGateway(t: Test, shards: number) {
  const onError = (error: unknown) => {
    // A busy machine may cause a timeout; then the shard is asked again.
    if (!(error instanceof TimeoutError)) t.fail(error as Error)
  }
  const health = startShardHealth({ redis, shards, onError })
  t.teardown(() => health.close())
  const sinks = Array.from({ length: shards }, (_, shard) => openSink(t, redis, { shard }))
  await until('all shards are usable', async () =>
    sinks.every((_, shard) => health.isUsable(shard)),
  )
  const producer = createShardedProducer({ sinks, isUsable: health.isUsable })
  const add = (receivedAtMs = noon) => producer.add({ ...frame, receivedAtMs }, soon())
  return { health, add }
}

function startWorker(t: Test) {
  const onError = (error: Error) => t.fail(error)
  const source = createShardedSource({
    open: (shard) => createJobSource({ redis, kind: 'logs', shard, onError }),
    list: () => readShards(redis),
    onError,
  })
  const consumer = createFrameConsumer({
    source,
    onError,
    onUnreadable: onError,
    onLocksLost: () => t.fail('locks lost'),
  })
  t.teardown(async () => {
    consumer.close()
    await source.close()
  })
  return consumer
}

t.test('a worker drains every shard, also those that gateways no longer use', async (t) => {
  await setUp()
  const four = await startGateway(t, 4)
  for (let n = 0; n < 8; n++) await four.add()
  // A gateway of an earlier version, or with the default number of shards, uses one shard.
  const one = await startGateway(t, 1)
  await one.add()
  const before = await read()
  t.same(before?.shards, [
    { shard: 0, frames: 3, rows: 9 },
    { shard: 1, frames: 2, rows: 6 },
    { shard: 2, frames: 2, rows: 6 },
    { shard: 3, frames: 2, rows: 6 },
  ])

  const worker = startWorker(t)
  let frames = 0
  let batches = 0
  while (frames < 9) {
    const batch = await worker.take(limits)
    frames += batch!.frames.length
    batches++
    await batch!.complete()
  }
  t.ok(batches <= 2, `${batches} batches: one insert for frames of several shards`)
  t.match(await read(), { queues: { logs: { waiting: 0, active: 0, delayed: 0, rows: 0 } } })
})

t.test('the backlog is that of all shards', async (t) => {
  await setUp()
  const { add } = await startGateway(t, 2)
  await add(noon)
  await add(noon - 5_000)
  await add(noon + 5_000)
  t.ok(await openSource(t, redis, { shard: 1 }).claim())
  t.match(await read(), {
    queues: {
      logs: { waiting: 2, active: 1, rows: 9, jsonBytes: 2_100, oldestMs: noon - 5_000 },
      feedback: { waiting: 0 },
    },
  })
})

t.test('the time of a backlog is not later than the reading of any shard', async (t) => {
  await setUp()
  await startGateway(t, 3)
  /** The commands in the order in which Redis executes them. */
  const executed: string[] = []
  const monitor = await primaryOf(redis).monitor()
  t.teardown(() => monitor.disconnect())
  monitor.on('monitor', (_time: string, args: string[]) => executed.push(args.join(' ')))
  await read()
  await redis.ping()
  await until('the commands are seen', async () =>
    executed.some((command) => command.toLowerCase() === 'ping'),
  )
  const at = (command: string) => executed.findIndex((one) => one.toLowerCase() === command)
  const ofShard = (shard: number) => at(`llen ${shardPrefix(shard)}:logs:wait`)
  t.ok(at('time') >= 0)
  t.ok(at('time') < ofShard(1) && at('time') < ofShard(2))
  t.ok(ofShard(0) < ofShard(1), 'a shard is read after the registry')
})

t.test('a paused queue is paused in the shards that are used later, too', async (t) => {
  await setUp()
  const pause = createQueuePause({ redis })
  await pause.pause(['logs'])
  const { add } = await startGateway(t, 2)
  await add()
  await add()
  t.match(await read(), { queues: { logs: { waiting: 2, isPaused: true } } })
  for (const shard of [0, 1]) {
    const source = openSource(t, redis, { shard })
    t.match(await source.peek(), { count: 0 })
    t.equal(await source.claim(), undefined)
  }
  await pause.resume(['logs'])
  const batch = await startWorker(t).take(limits)
  t.ok(batch!.frames.length > 0)
  await batch!.release()
})

t.test('frames of a shard can be read without claiming them', async (t) => {
  await setUp()
  const { add } = await startGateway(t, 2)
  await add()
  await add()
  for (const shard of await readShards(redis)) {
    const frames = createQueuedFrames({ redis, kind: 'logs', shard })
    const [first, ...others] = await frames.list()
    t.same(others, [])
    t.match(await frames.read(first!.id), { rows: 3 })
    t.same(await frames.remaining([first!.id]), [first!.id])
  }
})

t.test('a shard is registered once, before its first frame', async (t) => {
  await setUp()
  t.same(await readShards(redis), [0])
  t.same(await Promise.all([1, 1, 3].map((shard) => registerShard(redis, shard))), [
    'ready',
    'ready',
    'ready',
  ])
  t.same(await readShards(redis), [0, 1, 3])
  t.equal(await redis.get(shardMarkKey(3)), 'test')
  t.equal(await registerShard(redis, 1), 'ready')
  await redis.sadd(`${shardPrefix(0)}:shards`, shardsMax)
  t.same(await readShards(redis), [0, 1, 3], 'one of a later version is not known')
})

t.test('a shard that lost its data is found, and usable when that is accepted', async (t) => {
  await setUp()
  const { health, add } = await startGateway(t, 3)
  await redis.del(shardMarkKey(1))
  t.equal(await read(), undefined, 'nothing is known of its frames')
  t.same(await findLostShards(redis, 'test'), [1])
  await until('the gateway knows', async () => health.lost().length > 0)
  t.same(health.lost(), [1])
  t.notOk(health.isUsable(1))
  for (let n = 0; n < 4; n++) await add()
  t.equal(await redis.llen(`${shardPrefix(1)}:logs:wait`), 0)

  await markShards(redis, [1], 'test')
  await until('the gateway uses it', async () => health.isUsable(1))
  t.match(await read(), { shards: [{ shard: 0 }, { shard: 1, frames: 0 }, { shard: 2 }] })
})

t.test('the registry is restored from the marks of the shards', async (t) => {
  await setUp()
  await Promise.all([1, 2, 5].map((shard) => registerShard(redis, shard)))
  await redis.set(shardMarkKey(5), 'another')
  await redis.del(`${shardPrefix(0)}:shards`)
  t.equal(await registerShard(redis, 5), 'lost', 'it belongs to another installation')
  await restoreRegistry(redis, 'test')
  t.same(await readShards(redis), [0, 1, 2])
})

t.test('without an installation nothing is registered', async (t) => {
  await redis.flushall()
  t.equal(await registerShard(redis, 1), 'unowned')
  t.same(await redis.keys('*'), [])
})

t.test('shards whose Redis does not respond are not usable', async (t) => {
  await setUp()
  const client = openRedis(t, server, 'producer')
  const errors: unknown[] = []
  const health = startShardHealth({
    redis: client,
    shards: 2,
    onError: (error) => errors.push(error),
  })
  t.teardown(() => health.close())
  await until('they are usable', async () => health.isUsable(0) && health.isUsable(1))
  client.disconnect()
  await until('they are not', async () => !health.isUsable(0) && !health.isUsable(1))
  t.same(health.lost(), [])
  t.ok(errors.length > 0)
})

t.test('what no gateway writes into the registry harms no shard', async (t) => {
  t.same(toShards([]), [0])
  const damaged = ['', 'garbage', '1.5', '01', ' 2', '2e0', '0x3', '-1', '0', 'Infinity', '{}']
  t.same(toShards([...damaged, '2', '1']), [0, 1, 2])
  t.same(toShards(['3', '99', '1e3']), [0, 3], 'numbers of a later version')
})
