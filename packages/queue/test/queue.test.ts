import { once } from 'node:events'
import { kill } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { compress, decompress } from '@intake/queue/frame'
import { Queue } from 'bullmq'
import t, { type Test } from 'tap'
import type { RecordKind } from '@intake/contract'
import { claimInstallation, type Redis, type RedisRole } from '@intake/redis'
import { startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { lowest } from '@intake/test-kit/lowest'
import { startStopwatch } from '@intake/test-kit/stopwatch'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import {
  createBacklogReader,
  queueNames,
  queuePrefix,
  type Frame,
  type NewFrame,
} from '../src/index.ts'
import { createFrameConsumer, createJobSource, type BatchLimits } from '../src/consume.ts'
import { createFrameProducer } from '../src/produce.ts'
import { openSink, soon } from './open-queue.ts'

const redisServer = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => redisServer.stop())

const monitor = openRedis(t, redisServer)
await claimInstallation(monitor, 'test')
const readBacklogs = createBacklogReader({ redis: monitor })
const readBacklog = async () => (await readBacklogs())?.queues.logs

const frame = (text: string): NewFrame => ({
  receivedAtMs: Date.now(),
  rows: 1,
  jsonBytes: text.length,
  ...compress(text),
})

const connect = (t: Test, role: RedisRole) => openRedis(t, redisServer, role)

const createProducer = (t: Test, redis: Redis, kind: RecordKind = 'logs') =>
  createFrameProducer({ sink: openSink(t, redis, { kind }) })

function produce(t: Test) {
  const redis = connect(t, 'producer')
  return { redis, producer: createProducer(t, redis) }
}

const wide: BatchLimits = { framesMax: 1_000, compressedBytesMax: 1e9, jsonBytesMax: 1e9 }

function createConsumer(t: Test) {
  const unreadable: Error[] = []
  const onError = (error: Error) => t.comment(error.message)
  const source = createJobSource({ redis: connect(t, 'consumer'), kind: 'logs', onError })
  const consumer = createFrameConsumer({
    source,
    onError,
    onUnreadable: (error) => unreadable.push(error),
    onLocksLost: () => {},
  })
  t.teardown(async () => {
    consumer.close()
    await source.close()
  })
  return { consumer, source, unreadable }
}

/** Claims and processes frames until the test ends. */
function consume(
  t: Test,
  process: (frame: Frame) => Promise<void> = async () => {},
  limits: Partial<BatchLimits> = {},
) {
  const { consumer, unreadable } = createConsumer(t)
  const drained = (async () => {
    for (;;) {
      const batch = await consumer.take({ ...wide, ...limits })
      if (batch === undefined) return
      await Promise.all(batch.frames.map(process))
      await batch.complete()
    }
  })()
  t.teardown(() => drained)
  t.teardown(() => consumer.close())
  return { consumer, errors: unreadable }
}

const texts = (frames: readonly Frame[]) => frames.map((one) => decompress(one).toString())

t.test('an added frame is handed out unchanged and then removed', async (t) => {
  const { producer, redis } = produce(t)
  const added = frame('one')
  await producer.add(added, soon())
  const taken = await new Promise<Frame>((resolve) => {
    consume(t, async (one) => resolve(one))
  })
  t.same(taken, { ...added, attempts: 1 })
  await untilEmpty(redis)
})

t.test('a job that is not a frame is kept and reported, and does not delay others', async (t) => {
  const { producer, redis } = produce(t)
  const queue = new Queue(queueNames.logs, { connection: redis, prefix: queuePrefix })
  await queue.waitUntilReady()
  await queue.add('logs', { v: 99 }, { jobId: 'from-the-future' })
  await producer.add(frame('good'), soon())
  const reported = await new Promise<Error[]>((resolve) => {
    const { errors } = consume(t, async () => resolve(errors))
  })
  t.match(reported, [{ name: 'FrameError' }])
  await untilEmpty(redis)
  t.equal(await (await queue.getJob('from-the-future'))?.getState(), 'delayed')
  await queue.remove('from-the-future')
})

t.test('one of several consumers takes all waiting frames; they do not share them', async (t) => {
  const { producer } = produce(t)
  const frames = 300
  const began = performance.now()
  const takers: string[] = []
  const allTaken = new Promise<void>((resolve) => {
    for (const name of ['a', 'b', 'c']) {
      const take = async () => {
        takers.push(name)
        if (takers.length === frames) resolve()
      }
      consume(t, take)
    }
  })
  for (let n = 0; n < frames; n++) {
    await producer.add(frame(`${n}`), soon())
    await pause(5)
  }
  await allTaken
  const turns = takers.filter((name, index) => name !== takers[index - 1]).length
  // There are three consumers. Each lets frames gather for 350 ms before it claims any, but timers
  // may fire a millisecond early.
  const turnsMax = 3 * ((performance.now() - began) / 349 + 1)
  t.ok(turns <= turnsMax, `${turns} turns for ${frames} frames, at most ${turnsMax}`)
})

t.test('frames beyond the limit of a consumer go to another one', async (t) => {
  const { producer } = produce(t)
  const held: (() => void)[] = []
  const hold = () => new Promise<void>((resolve) => held.push(resolve))
  for (let n = 0; n < 6; n++) await producer.add(frame(`${n}`), soon())
  consume(t, hold, { framesMax: 4 })
  t.teardown(() => {
    for (const release of held) release()
  })
  await until('four frames are held', () => held.length >= 4)
  const others = new Set<string>()
  await new Promise<void>((resolve) => {
    consume(t, async (taken) => {
      others.add(decompress(taken).toString())
      if (others.size === 2) resolve()
    })
  })
  t.same([...others], ['4', '5'])
})

t.test('a batch has at most as many frames and bytes as its limits, in order', async (t) => {
  const { producer } = produce(t)
  for (let n = 0; n < 7; n++) await producer.add(frame(`${n}`.padEnd(100)), soon())
  const { consumer } = createConsumer(t)
  const first = await consumer.take({ ...wide, framesMax: 2 })
  t.same(texts(first?.frames ?? []).map(Number), [0, 1])
  await first?.complete()
  const second = await consumer.take({ ...wide, jsonBytesMax: 350 })
  t.same(texts(second?.frames ?? []).map(Number), [2, 3, 4])
  await second?.complete()
  const third = await consumer.take({ ...wide, compressedBytesMax: 1 })
  t.same(texts(third?.frames ?? []).map(Number), [5], 'one frame, however large')
  await third?.complete()
  const last = await consumer.take(wide)
  t.same(texts(last?.frames ?? []).map(Number), [6])
  await last?.complete()
  t.match(await readBacklog(), { waiting: 0, active: 0, delayed: 0 })
})

t.test('released frames are handed out again at once, in their order', async (t) => {
  const { producer } = produce(t)
  for (let n = 0; n < 5; n++) await producer.add(frame(`${n}`), soon())
  const { consumer } = createConsumer(t)
  const batch = await consumer.take(wide)
  await batch?.release()
  const again = await consumer.take(wide)
  t.same(texts(again?.frames ?? []), ['0', '1', '2', '3', '4'])
  const found = again?.frames.map(({ attempts }) => attempts)
  t.same(found, [2, 2, 2, 2, 2])
  await again?.complete()
})

t.test('a postponed frame is handed out later; the others are completed', async (t) => {
  const { producer, redis } = produce(t)
  for (const text of ['bad', 'worse', 'good']) await producer.add(frame(text), soon())
  const { consumer } = createConsumer(t)
  const batch = await consumer.take(wide)
  const [bad, worse] = batch?.frames ?? []
  await batch?.postpone(bad!, 50)
  await batch?.postpone(worse!, 3_600_000)
  await batch?.complete()
  const again = await consumer.take(wide)
  t.same(texts(again?.frames ?? []), ['bad'])
  await again?.complete()
  t.match(await readBacklog(), { waiting: 0, active: 0, delayed: 1 }, 'only the other waits')
  const queue = new Queue(queueNames.logs, { connection: redis, prefix: queuePrefix })
  for (const job of await queue.getDelayed()) await job.remove()
})

t.test('claimed frames that were not handed out are released at the end', async (t) => {
  const { producer, redis } = produce(t)
  for (let n = 0; n < 40; n++) await producer.add(frame(`${n}`), soon())
  const { consumer } = createConsumer(t)
  const batch = await consumer.take({ ...wide, framesMax: 8 })
  // While more frames wait, completing a batch claims a new frame for each completed frame.
  await batch?.complete()
  t.equal((await readBacklog())?.active, 8)
  consumer.close()
  t.equal(await consumer.take(wide), undefined)
  t.match(await readBacklog(), { waiting: 32, active: 0, delayed: 0 })
  const { consumer: next } = createConsumer(t)
  const rest = await next.take(wide)
  t.equal(rest?.frames.length, 32)
  t.equal(texts(rest?.frames ?? [])[0], '8')
  await rest?.complete()
  await untilEmpty(redis)
})

t.test('a batch that is completed after the end claims no further frames', async (t) => {
  const { producer } = produce(t)
  for (let n = 0; n < 40; n++) await producer.add(frame(`${n}`), soon())
  const { consumer } = createConsumer(t)
  const batch = await consumer.take({ ...wide, framesMax: 8 })
  consumer.close()
  await batch?.complete()
  t.match(await readBacklog(), { waiting: 32, active: 0 })
  const { consumer: next } = createConsumer(t)
  await (await next.take(wide))?.complete()
})

t.test('queue_unavailable before the deadline if Redis was never reached', async (t) => {
  const redis = openRedis(t, { url: 'redis://127.0.0.1:1' }, 'producer')
  const producer = createProducer(t, redis)
  const elapsedMs = await lowest(1_000, async () => {
    const stopwatch = startStopwatch(t)
    await t.rejects(producer.add(frame('x'), soon(300)), { code: 'queue_unavailable' })
    return stopwatch()
  })
  t.ok(elapsedMs < 1_000)
})

t.test('outcome_unknown in time while Redis is frozen; the frame arrives once', async (t) => {
  const { producer, redis } = produce(t)
  await once(redis, 'ready')
  await producer.add(frame('warm-up'), soon())
  kill(redisServer.pid, 'SIGSTOP')
  try {
    await t.rejects(producer.add(frame('maybe'), soon(500)), { code: 'outcome_unknown' })
  } finally {
    kill(redisServer.pid, 'SIGCONT')
  }
  const { producer: next } = produce(t)
  await next.add(frame('last'), soon())
  const taken: string[] = []
  await new Promise<void>((resolve) => {
    consume(t, async (one) => {
      taken.push(decompress(one).toString())
      if (taken.includes('maybe') && taken.includes('last')) resolve()
    })
  })
  await untilEmpty(redis)
  t.equal(taken.filter((content) => content === 'maybe').length, 1)
})

t.test('after queue_unavailable, the abandoned attempt stores nothing later', async (t) => {
  const redis = connect(t, 'producer')
  await once(redis, 'ready')
  kill(redisServer.pid, 'SIGSTOP')
  // The producer opens its queue while Redis is frozen, so the queue does not open in time.
  const producer = createProducer(t, redis, 'feedback')
  try {
    await t.rejects(producer.add(frame('refused'), soon(300)), { code: 'queue_unavailable' })
  } finally {
    kill(redisServer.pid, 'SIGCONT')
  }
  await producer.add(frame('accepted'), soon())
  const queue = new Queue(queueNames.feedback, { connection: redis, prefix: queuePrefix })
  t.equal(await queue.getWaitingCount(), 1)
})

t.test('queue_full when Redis has no memory left', async (t) => {
  const { producer, redis } = produce(t)
  await once(redis, 'ready')
  await redis.config('SET', 'maxmemory', '1')
  t.teardown(() => redis.config('SET', 'maxmemory', '0'))
  await t.rejects(producer.add(frame('too much'), soon()), { code: 'queue_full' })
})

/** Resolves when no job is waiting or active. */
async function untilEmpty(redis: Redis): Promise<void> {
  const keys = ['wait', 'active'].map((list) => `${queuePrefix}:${queueNames.logs}:${list}`)
  await until('the queue is empty', async () => (await redis.exists(...keys)) === 0)
}
