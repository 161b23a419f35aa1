import t, { type Test } from 'tap'
import { connectRedis } from '@intake/redis'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openRedis } from '@intake/test-kit/open-redis'
import { createRandom } from '@intake/test-kit/random'
import { createRedisServer, redisPassword } from '@intake/test-kit/redis-server'
import { startTcpProxy } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import { confirmChange } from '../src/confirm-change.ts'

const [port, replicaPort, lonelyPort] = await freePorts(3)
const dataDir = createDataDir(t)
const primary = await createRedisServer({ dataDir, port: port! })
const replica = await createRedisServer({
  dataDir,
  port: replicaPort!,
  config: [`replicaof 127.0.0.1 ${port}`],
})
const lonely = await createRedisServer({ dataDir, port: lonelyPort! })
const servers = [primary, replica, lonely]
t.teardown(() => Promise.all(servers.map((one) => one.process.kill())))
await Promise.all(servers.map((one) => one.process.start()))
const proxy = await startTcpProxy({ target: lonelyPort!, random: createRandom(1) })
t.teardown(() => proxy.close())
const redis = connectRedis({
  url: `redis://default:${redisPassword}@127.0.0.1:${proxy.port}`,
  role: 'consumer',
  onError: () => {},
})
t.teardown(() => redis.disconnect())

const operator = openRedis(t, lonely)

const key = '{intake}:change'
const change = () => redis.set(key, 'made')

function requireReplicas(t: Test, replicas: string) {
  process.env['REDIS_ACK_REPLICAS'] = replicas
  t.teardown(() => delete process.env['REDIS_ACK_REPLICAS'])
}

/** The number of SET commands that the server has executed. */
async function writes(): Promise<number> {
  return Number(/^cmdstat_set:calls=(\d+)/m.exec(await redis.info('commandstats'))?.[1])
}

t.test('without the setting a change is made', async (t) => {
  t.equal(await confirmChange(redis, change), 'OK')
})

t.test('a change is confirmed by as many replicas as gateways wait for', async (t) => {
  requireReplicas(t, '1')
  await t.rejects(confirmChange(redis, change), /The change is made.*0 of 1 replicas have it/)
  t.equal(await redis.get(key), 'made')

  // Below, the test cuts the connection while WAITAOF (or WAIT) has no reply yet. The client then
  // sends this command again. This time it reaches another server, which has a replica.
  let isOver = true
  let outcome: Promise<unknown> = Promise.resolve()
  await until('it waits for a replica', async () => {
    // `confirmChange` gives up after a second. On a busy machine, that can happen between two
    // checks, so the test then calls it again.
    if (isOver) {
      isOver = false
      outcome = confirmChange(redis, change)
        .catch((error: unknown) => error)
        .finally(() => (isOver = true))
    }
    return (await operator.info('clients')).includes('blocked_clients:1')
  })
  proxy.redirect(port!)
  proxy.cut()
  t.match(await outcome, { name: 'UnconfirmedError' })

  await until('a replica is online', async () =>
    (await redis.info('replication')).includes('state=online'),
  )
  t.equal(await redis.get(key), null, 'the failover has undone it')
  t.equal(await until('it is confirmed', () => confirmChange(redis, change)), 'OK')
})

t.test('a repeated change that finds nothing to write is confirmed, too', async (t) => {
  requireReplicas(t, '1')
  replica.process.freeze()
  t.teardown(() => replica.process.thaw())
  await t.rejects(confirmChange(redis, change), { name: 'UnconfirmedError' })
  // The second attempt is another process, so its connection has written nothing. Redis documents
  // WAIT for the writes of the connection only. Redis 7.0 also waits for those of others.
  const again = openRedis(t, primary)
  const repeat = () => confirmChange(again, () => again.get(key))
  await t.rejects(repeat(), { name: 'UnconfirmedError' })
  replica.process.thaw()
  t.equal(await until('it is confirmed', repeat), 'made')
  const before = await writes()
  await until('it is confirmed again', repeat)
  t.ok((await writes()) > before, 'it writes something before it waits')
})

t.test('a wrong setting is named', async (t) => {
  requireReplicas(t, 'one')
  await t.rejects(confirmChange(redis, change), { message: /REDIS_ACK_REPLICAS must be integer/ })
})
