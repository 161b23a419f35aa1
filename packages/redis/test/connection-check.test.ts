import { once } from 'node:events'
import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { ownRedis } from '@intake/test-kit/own-services'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { connectRedis, createConnectionCheck, whileConnected } from '../src/index.ts'

t.test('no command is kept while there is no connection', async (t) => {
  const redis: { status: 'ready' | 'reconnecting' } = { status: 'reconnecting' }
  const sent: number[] = []
  const send = whileConnected(redis, async (n: number) => void sent.push(n))
  await t.rejects(send(1), { message: 'not connected to Redis' })
  redis.status = 'ready'
  await send(2)
  t.same(sent, [2])
})

t.test('a server that is no cluster is the reason for the missing connection', async (t) => {
  const server = await ownRedis(t)
  const errors: Error[] = []
  const onError = (error: Error) => errors.push(error)
  const url = server.url.replace(/^redis:/, 'redis+cluster:').replace(/\/$/, '')
  const redis = connectRedis({ url, role: 'producer', onError })
  t.teardown(() => redis.disconnect())
  const check = createConnectionCheck(redis)
  await once(redis, 'error')
  const reason = 'ERR This instance has cluster support disabled'
  t.equal(check(), `not connected: ${reason}`)
  t.match(errors.at(-1), { name: 'ReplyError', message: reason })
})

t.test('that a cluster has lost a primary, and refuses everything, is the reason', async (t) => {
  const cluster = await startRedisCluster({ dataDir: createDataDir(t), replicas: 0 })
  t.teardown(() => cluster.close())
  const [first, second] = cluster.servers
  const operator = openRedis(t, first!)
  await second!.process.kill()
  // Waits for this before it connects, because a connection that is ready remains ready while the
  // cluster refuses commands.
  await until('the cluster refuses everything', async () =>
    String(await operator.call('CLUSTER', 'INFO')).includes('cluster_state:fail'),
  )
  const redis = connectRedis({
    url: first!.url.replace(/^redis:/, 'redis+cluster:'),
    role: 'producer',
    onError: () => {},
  })
  t.teardown(() => redis.disconnect())
  const check = createConnectionCheck(redis)
  const reason = 'not connected: CLUSTERDOWN The cluster has lost a primary'
  await until('it is known', () => check() === reason)
})
