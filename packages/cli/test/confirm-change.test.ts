import t from 'tap'
import { connectRedis } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import { confirmChange } from '../src/confirm-change.ts'

const [port, replicaPort] = await freePorts(2)
const primary = await createRedisServer({ dataDir: createDataDir(t), port: port! })
const replica = await createRedisServer({
  dataDir: createDataDir(t),
  port: replicaPort!,
  config: [`replicaof 127.0.0.1 ${port}`],
})
t.teardown(() => Promise.all([primary, replica].map((one) => one.process.kill())))
await primary.process.start()
const redis = connectRedis({ url: primary.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())

t.test('a change is confirmed by as many replicas as gateways wait for', async (t) => {
  await redis.set('{intake}:change', '1')
  await confirmChange(redis)
  process.env['REDIS_ACK_REPLICAS'] = '1'
  t.teardown(() => delete process.env['REDIS_ACK_REPLICAS'])
  await t.rejects(confirmChange(redis), /The change is made.*0 of 1 replicas have it/)
  await replica.process.start()
  await until('the replica is online', async () =>
    (await redis.info('replication')).includes('state=online'),
  )
  await redis.set('{intake}:change', '2')
  await confirmChange(redis)
})
