import t, { type Test } from 'tap'
import { claimInstallation } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { createBacklogReader, queuePrefix } from '../src/index.ts'
import { addFrame, openSink, openSource } from './open-queue.ts'

const redis = openRedis(t, await ownRedis(t))

const noon = Date.UTC(2026, 10, 23, 12)
const hourMs = 3_600_000
const turnKey = `${queuePrefix}:watermark:turn`

/** Creates an installation with empty queues. */
async function setUp(t: Test) {
  await redis.flushall()
  await claimInstallation(redis, 'test')
  const sinks = { logs: openSink(t, redis), feedback: openSink(t, redis, { kind: 'feedback' }) }
  const source = openSource(t, redis)
  const read = createBacklogReader({ redis })
  return {
    source,
    sinks,
    read,
    oldest: async () => {
      const backlogs = await read()
      return [backlogs?.queues.logs.oldestMs, backlogs?.queues.feedback.oldestMs]
    },
    add: (receivedAtMs: number, kind: 'logs' | 'feedback' = 'logs') =>
      addFrame(sinks[kind], receivedAtMs),
  }
}

t.test('the oldest record is found in every state of its frame', async (t) => {
  const { source, add, oldest } = await setUp(t)
  t.same(await oldest(), [undefined, undefined])

  await add(noon)
  await add(noon - hourMs, 'feedback')
  const both = [noon, noon - hourMs]
  t.same(await oldest(), both, 'waiting')

  const first = await source.claim()
  t.same(await oldest(), both, 'in progress')
  await add(noon + 1)
  t.same(await oldest(), both, 'in progress, a newer one waiting')
  await source.postpone(first!, hourMs)
  t.same(await oldest(), both, 'postponed')

  const second = await source.claim()
  await add(noon - 2 * hourMs)
  t.same((await oldest())[0], noon - 2 * hourMs, 'behind a newer one')
  await source.release(second!)
  await source.complete((await source.claim())!, { claimNext: false })
  t.same((await oldest())[0], noon - 2 * hourMs, 'after a completion')
  await source.complete((await source.claim())!, { claimNext: false })
  t.same(await oldest(), both, 'only the postponed one is left')
})

t.test('rows and bytes are those of all frames, by state', async (t) => {
  const { source, add, read } = await setUp(t)
  for (let n = 0; n < 4; n++) await add(noon)
  await source.claim()
  await source.postpone((await source.claim())!, hourMs)
  const { logs, feedback } = (await read())!.queues
  t.match(logs, {
    waiting: 2,
    active: 1,
    delayed: 1,
    rows: 12,
    jsonBytes: 2_800,
    isOldestExact: true,
  })
  t.match(feedback, {
    waiting: 0,
    active: 0,
    delayed: 0,
    rows: 0,
    jsonBytes: 0,
    isOldestExact: true,
  })
})

t.test('rows of a long list and of a short one are estimated separately', async (t) => {
  const { read } = await setUp(t)
  const id = (n: number, rows: number) =>
    `0193e000-0000-7000-8000-${String(n).padStart(12, '0')}-${rows}-${rows * 100}`
  const key = (list: string) => `${queuePrefix}:logs:${list}`
  await redis.rpush(key('wait'), ...Array.from({ length: 20_000 }, (_, n) => id(n, 3)))
  await redis.rpush(key('active'), ...Array.from({ length: 256 }, (_, n) => id(20_000 + n, 1_000)))
  const { rows, jsonBytes } = (await read())!.queues.logs
  t.equal(rows, 20_000 * 3 + 256 * 1_000)
  t.equal(jsonBytes, rows * 100)
})

t.test('the time is that of Redis', async (t) => {
  const { read } = await setUp(t)
  const [before] = await redis.time()
  const backlogs = await read()
  const [after] = await redis.time()
  t.ok(backlogs!.nowMs >= Number(before) * 1_000)
  t.ok(backlogs!.nowMs < (Number(after) + 1) * 1_000)
})

t.test('an old frame without a row count, and another without a time, are counted', async (t) => {
  const { sinks, add, read } = await setUp(t)
  await add(noon)
  await sinks.logs.add('0193e000-0000-7000-8000-000000000000', {})
  const former = Number.parseInt('0193e0000000', 16)
  const estimate = { oldestMs: former, rows: 6, jsonBytes: 1_400, isOldestExact: true }
  t.match((await read())?.queues.logs, estimate, 'as many as in the other frame')
  await sinks.logs.add('b5a1a1c0-0000-4000-8000-000000000000', {})
  t.match((await read())?.queues.logs, { oldestMs: former, rows: 9, isOldestExact: false })
})

t.test('a long queue is sampled at twenty places, both ends included', async (t) => {
  const { read } = await setUp(t)
  const id = (n: number) =>
    `0193e000-${n.toString(16).padStart(4, '0')}-7000-8000-000000000000-${n < 20_000 ? 10 : 20}-1000`
  const ids = Array.from({ length: 40_000 }, (_, n) => id(n))
  for (let n = 0; n < ids.length; n += 5_000)
    await redis.lpush(`${queuePrefix}:logs:wait`, ...ids.slice(n, n + 5_000))
  t.match((await read())?.queues.logs, {
    waiting: 40_000,
    rows: 600_000,
    jsonBytes: 40_000_000,
    oldestMs: Number.parseInt('0193e0000000', 16),
    isOldestExact: false,
  })
  await redis.ltrim(`${queuePrefix}:logs:wait`, 0, 19_999)
  t.match((await read({ framesMax: 20_000 }))?.queues.logs, {
    rows: 400_000,
    oldestMs: Number.parseInt('0193e0004e20', 16),
    isOldestExact: true,
  })
})

t.test('one process reads in each turn', async (t) => {
  const { read } = await setUp(t)
  t.ok(await read({ turnMs: hourMs }))
  t.equal(await read({ turnMs: hourMs }), undefined)
  t.ok(await read(), 'without a turn')
  await redis.pexpire(turnKey, 0)
  t.ok(await read({ turnMs: hourMs }))
  await redis.set(turnKey, Date.now() + 24 * hourMs, 'PX', 24 * hourMs)
  t.ok(await read({ turnMs: hourMs }), 'the clock of Redis stepped back by a day')
  t.equal(await read({ turnMs: hourMs }), undefined)
  t.ok((await redis.pttl(turnKey)) <= hourMs)
})

t.test('nothing is read from a Redis that has lost its data', async (t) => {
  const { read } = await setUp(t)
  await redis.flushall()
  t.equal(await read(), undefined)
})
