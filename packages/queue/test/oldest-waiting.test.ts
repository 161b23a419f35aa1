import t from 'tap'
import { connectRedis } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createJobSource } from '../src/consume.ts'
import { readOldestWaiting } from '../src/index.ts'
import { createFrameProducer, createJobSink } from '../src/produce.ts'

const server = await ownRedis(t)
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())

const noon = Date.UTC(2026, 10, 28, 12)
const shards = [0, 1]

t.test('the oldest frame that no worker has claimed is found in every shard', async (t) => {
  const sinks = shards.map((shard) => createJobSink({ redis, kind: 'logs', shard }))
  const source = createJobSource({ redis, kind: 'logs', onError: (error) => t.fail(error) })
  t.teardown(() => Promise.all([...sinks.map((sink) => sink.close()), source.close()]))
  const oldest = () => readOldestWaiting(redis, shards)
  const add = (shard: number, receivedAtMs: number) =>
    createFrameProducer({ sink: sinks[shard]! }).add(
      { rows: 1, jsonBytes: 2, gzip: Buffer.from('x'), receivedAtMs },
      performance.now() + 60_000,
    )
  t.equal(await oldest(), undefined)
  await add(0, noon)
  await add(0, noon + 2)
  await add(1, noon + 1)
  t.equal(await oldest(), noon)
  await source.claim()
  t.equal(await oldest(), noon + 1, 'a claimed frame does not wait')
  await source.claim()
  t.equal(await oldest(), noon + 1, 'that of another shard')
})
