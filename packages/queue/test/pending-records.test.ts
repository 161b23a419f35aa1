import t, { type Test } from 'tap'
import { claimInstallation, connectRedis } from '@intake/redis'
import { startRedis } from '@intake/engines'
import { createDataDir } from '@intake/test-kit/data-dir'
import {
  createFrameProducer,
  createJobSink,
  createJobSource,
  definePendingRecords,
  queuePrefix,
} from '../src/index.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())

const noon = Date.UTC(2026, 10, 23, 12)
const hourMs = 3_600_000
const turnKey = `${queuePrefix}:watermark:turn`

/** Empty queues of an installation. */
async function setUp(t: Test) {
  await redis.flushall()
  await claimInstallation(redis, 'test')
  const sinks = {
    logs: createJobSink({ redis, kind: 'logs' }),
    feedback: createJobSink({ redis, kind: 'feedback' }),
  }
  const source = createJobSource({ redis, kind: 'logs', onError: (error) => t.fail(error) })
  t.teardown(() => Promise.all([sinks.logs.close(), sinks.feedback.close(), source.close()]))
  const readInTurn = definePendingRecords({ redis, turnMs: hourMs })
  return {
    source,
    sinks,
    readInTurn,
    read: async () => {
      await redis.del(turnKey)
      return readInTurn()
    },
    add: (receivedAtMs: number, kind: 'logs' | 'feedback' = 'logs') =>
      createFrameProducer({ sink: sinks[kind] }).add(
        { rows: 1, jsonBytes: 1, gzip: Buffer.from('x'), receivedAtMs },
        performance.now() + 60_000,
      ),
  }
}

t.test('the oldest record is found in whatever state its frame is', async (t) => {
  const { source, add, read } = await setUp(t)
  t.match(await read(), { oldestMs: { logs: Infinity, feedback: Infinity } })

  await add(noon)
  await add(noon - hourMs, 'feedback')
  const both = { oldestMs: { logs: noon, feedback: noon - hourMs } }
  t.match(await read(), both, 'waiting')

  const first = await source.claim()
  t.match(await read(), both, 'in progress')
  await add(noon + 1)
  t.match(await read(), both, 'in progress, a newer one waiting')
  await source.postpone(first!, hourMs)
  t.match(await read(), both, 'postponed')

  const second = await source.claim()
  await add(noon - 2 * hourMs)
  t.match(await read(), { oldestMs: { logs: noon - 2 * hourMs } }, 'behind a newer one')
  await source.release(second!)
  await source.complete((await source.claim())!, { claimNext: false })
  t.match(await read(), { oldestMs: { logs: noon - 2 * hourMs } }, 'after a completion')
  await source.complete((await source.claim())!, { claimNext: false })
  t.match(await read(), both, 'only the postponed one is left')
})

t.test('the time is that of Redis', async (t) => {
  const { read } = await setUp(t)
  const [before] = await redis.time()
  const pending = await read()
  const [after] = await redis.time()
  t.ok(pending!.nowMs >= Number(before) * 1_000)
  t.ok(pending!.nowMs < (Number(after) + 1) * 1_000)
})

t.test('a frame without a time may be of any age', async (t) => {
  const { sinks, add, read } = await setUp(t)
  await add(noon)
  await sinks.logs.add('b5a1a1c0-0000-4000-8000-000000000000', {})
  t.match(await read(), { oldestMs: { logs: -Infinity, feedback: Infinity } })
})

t.test('a queue that is too long is not looked at', async (t) => {
  const { read } = await setUp(t)
  const ids = Array.from({ length: 20_001 }, (_, n) => `0193e000-0000-7000-8000-${n}`)
  await redis.lpush(`${queuePrefix}:logs:wait`, ...ids)
  t.match(await read(), { oldestMs: { logs: -Infinity, feedback: Infinity } })
  await redis.lpop(`${queuePrefix}:logs:wait`)
  t.match(await read(), { oldestMs: { logs: Number.parseInt('0193e0000000', 16) } })
})

t.test('one process reads in each turn', async (t) => {
  const { readInTurn } = await setUp(t)
  t.ok(await readInTurn())
  t.equal(await readInTurn(), undefined)
  await redis.pexpire(turnKey, 0)
  t.ok(await readInTurn())
})

t.test('nothing is read from a Redis that has lost its data', async (t) => {
  const { read } = await setUp(t)
  await redis.flushall()
  t.equal(await read(), undefined)
})
