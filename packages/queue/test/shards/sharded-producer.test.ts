import { ReplyError } from '@intake/redis'
import t from 'tap'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createShardedProducer, type JobSink } from '../../src/produce.ts'

const frame = {
  rows: 1,
  jsonBytes: 2,
  coding: 'gzip' as const,
  bytes: Buffer.from('x'),
  receivedAtMs: 0,
}
const outOfMemory = () => Promise.reject(new ReplyError('OOM command not allowed', 'add'))
const noResponse = () => new Promise<void>(() => {})

interface FakeSink extends JobSink {
  ids: string[]
}

/** Creates a sink that records the ids that it is sent, then runs the test's `add`. */
function createSink(add: () => Promise<void> = () => Promise.resolve()): FakeSink {
  const ids: string[] = []
  return {
    ids,
    ready: () => Promise.resolve(),
    add(id) {
      ids.push(id)
      return add()
    },
    close: () => Promise.resolve(),
  }
}

function produce(sinks: readonly FakeSink[], isUsable: (shard: number) => boolean = () => true) {
  const clock = createTestClock()
  const producer = createShardedProducer({ sinks, isUsable, clock })
  return { clock, add: (ms = 4_000) => producer.add(frame, clock.now() + ms) }
}

const countsOf = (sinks: readonly FakeSink[]) => sinks.map(({ ids }) => ids.length)

t.test('frames go to the shards in turn', async (t) => {
  const sinks = [createSink(), createSink(), createSink()]
  const { add } = produce(sinks)
  for (let n = 0; n < 9; n++) await add()
  t.same(countsOf(sinks), [3, 3, 3])
  await Promise.all(Array.from({ length: 6 }, () => add()))
  t.same(countsOf(sinks), [5, 5, 5], 'also at the same time')
})

t.test('a frame that a shard has refused is stored in another one', async (t) => {
  const sinks = [createSink(outOfMemory), createSink()]
  const { clock, add } = produce(sinks)
  for (let n = 0; n < 10; n++) await add()
  t.same(countsOf(sinks), [1, 10], 'the shard that refuses is avoided')
  await clock.advance(1_001)
  await add()
  await add()
  t.same(countsOf(sinks), [2, 12], 'and tried again after a second')
})

t.test('a shard without a connection has certainly not stored the frame', async (t) => {
  const down = { ...createSink(), ready: () => Promise.reject(new Error('not connected')) }
  const sinks = [down, createSink()]
  const { add } = produce(sinks)
  for (let n = 0; n < 4; n++) await add()
  t.same(countsOf(sinks), [0, 4])
})

t.test('a frame that may be stored is retried in the same shard, under the same id', async (t) => {
  let isBroken = true
  const breaks = () =>
    isBroken ? Promise.reject(new Error('Connection is closed.')) : Promise.resolve()
  const sinks = [createSink(breaks), createSink(breaks)]
  const { clock, add } = produce(sinks)
  const added = add()
  await clock.advance(350)
  isBroken = false
  await clock.advance(100)
  await added
  const used = sinks.filter(({ ids }) => ids.length > 0)
  t.equal(used.length, 1)
  t.ok(used[0]!.ids.length > 2)
  t.equal(new Set(used[0]!.ids).size, 1)
})

t.test('a refusal after an attempt without a response does not prove anything', async (t) => {
  let attempts = 0
  const add = () => (++attempts === 1 ? noResponse() : outOfMemory())
  const sinks = [createSink(add), createSink(add)]
  const { clock, ...gateway } = produce(sinks)
  const added = t.rejects(gateway.add(), { code: 'outcome_unknown' })
  await clock.advance(4_000)
  await added
  t.equal(sinks.filter(({ ids }) => ids.length > 0).length, 1)
})

t.test('the gateway hears the refusal when every shard refuses', async (t) => {
  const sinks = [createSink(outOfMemory), createSink(outOfMemory), createSink(outOfMemory)]
  const { add } = produce(sinks)
  await t.rejects(add(), { code: 'queue_full' })
  t.same(countsOf(sinks), [1, 1, 1])
})

t.test('a frozen shard gets no more frames while others respond', async (t) => {
  const sinks = [createSink(noResponse), createSink()]
  const { clock, add } = produce(sinks)
  const frozen = Promise.allSettled([add(), add()])
  await clock.advance(1)
  for (let n = 0; n < 20; n++) await add()
  t.same(countsOf(sinks), [1, 21])
  await clock.advance(4_000)
  t.same((await frozen).map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
})

t.test('only usable shards get frames; if there is none, shard 0 says why', async (t) => {
  const sinks = [createSink(), createSink(), createSink()]
  let usable = [1]
  const { add } = produce(sinks, (shard) => usable.includes(shard))
  for (let n = 0; n < 3; n++) await add()
  t.same(countsOf(sinks), [0, 3, 0])
  usable = []
  await add()
  t.same(countsOf(sinks), [1, 3, 0])
})
