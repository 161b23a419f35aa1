import t from 'tap'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { createJobSource } from '../src/consume.ts'
import { readOldestWaiting } from '../src/index.ts'
import { createFrameProducer, createJobSink, type JobSink } from '../src/produce.ts'

const redis = openRedis(t, await ownRedis(t))

const noon = Date.UTC(2026, 10, 28, 12)
const shards = [0, 1]

t.test('the oldest frame that no worker has claimed is found in every queue', async (t) => {
  const sinks = shards.map((shard) => createJobSink({ redis, kind: 'logs', shard }))
  const feedback = createJobSink({ redis, kind: 'feedback' })
  const source = createJobSource({ redis, kind: 'logs', onError: (error) => t.fail(error) })
  t.teardown(() =>
    Promise.all([...[...sinks, feedback].map((sink) => sink.close()), source.close()]),
  )
  const oldest = () => readOldestWaiting(redis, shards)
  const add = (sink: JobSink, receivedAtMs: number) =>
    createFrameProducer({ sink }).add(
      { rows: 1, jsonBytes: 2, coding: 'gzip', bytes: Buffer.from('x'), receivedAtMs },
      performance.now() + 60_000,
    )
  t.equal(await oldest(), undefined)
  await add(feedback, noon + 3)
  t.equal(await oldest(), noon + 3)
  await add(sinks[0]!, noon)
  await add(sinks[0]!, noon + 2)
  await add(sinks[1]!, noon + 1)
  t.equal(await oldest(), noon)
  await source.claim()
  t.equal(await oldest(), noon + 1, 'a claimed frame does not wait')
  await source.claim()
  t.equal(await oldest(), noon + 1, 'that of another shard')
})
