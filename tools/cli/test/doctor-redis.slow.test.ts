import t, { type Test } from 'tap'
import { shardPrefix } from '@intake/queue'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openRedis } from '@intake/test-kit/open-redis'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { startSentinels } from '@intake/test-kit/redis-sentinel'
import { createRedisServer, type RedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import { examineRedis } from '../src/doctor/redis.ts'
import { stateOf } from '../src/state.ts'

async function examine(url: string, { assertsDurability = false } = {}) {
  const { findings, facts } = await examineRedis(url, { assertsDurability, replicasMin: 0 })
  return {
    state: stateOf(findings),
    details: findings.map(({ detail }) => detail),
    findings,
    facts,
  }
}

function operate(t: Test, { url }: RedisServer) {
  const operator = openRedis(t, { url })
  return operator
}

/** Starts a primary with one replica. */
async function startPair(t: Test, config: (replicaPort: number) => string[] = () => []) {
  const [port, replicaPort] = (await freePorts(2)) as [number, number]
  const primary = await createRedisServer({ dataDir: createDataDir(t), port })
  const replica = await createRedisServer({
    dataDir: createDataDir(t),
    port: replicaPort,
    config: [`replicaof 127.0.0.1 ${port}`, ...config(replicaPort)],
  })
  t.teardown(() => Promise.all([primary, replica].map((one) => one.process.kill())))
  await Promise.all([primary.process.start(), replica.process.start()])
  const operator = operate(t, primary)
  await until('the replica is online', async () =>
    (await operator.info('replication')).includes('state=online'),
  )
  return { primary, replica }
}

t.test('a replica needs the settings of its primary', async (t) => {
  const { primary, replica } = await startPair(t)
  t.match(await examine(primary.url), { state: 'ok', facts: { replicas: { length: 1 } } })
  await operate(t, replica).config('SET', 'appendfsync', 'everysec')
  t.match(await examine(primary.url), {
    state: 'degraded',
    details: [`The replica 127.0.0.1:${replica.port} has appendfsync everysec, not always.`],
    findings: [{ code: 'redis_could_lose_records' }],
  })
})

t.test('a replica that is silent, or hidden, is named', async (t) => {
  const { primary, replica } = await startPair(t)
  replica.process.freeze()
  const lists = `Redis lists the replica 127.0.0.1:${replica.port}, which cannot be examined`
  t.match(await examine(primary.url), {
    state: 'degraded',
    details: [`${lists}: reading its settings took longer than 4000 ms.`],
    findings: [{ code: 'redis_connection', change: /managed Redis/ }],
  })
  replica.process.thaw()

  const hidden = await startPair(t, () => ['replica-announce-port 1'])
  const { state, details } = await examine(hidden.primary.url)
  t.equal(state, 'degraded')
  t.match(details, [/^Redis lists the replica 127.0.0.1:1, which cannot be examined: .*REFUSED/])
  const asserted = await examine(hidden.primary.url, { assertsDurability: true })
  t.equal(asserted.state, 'ok', 'the operator has seen to its settings')
})

t.test('a replica that does not accept the user is named', async (t) => {
  const { primary, replica } = await startPair(t)
  await operate(t, replica).config('SET', 'requirepass', 'other')
  t.match((await examine(primary.url)).details, [
    /, which cannot be examined: Redis does not accept the user and password in REDIS_URL\.$/,
  ])
})

t.test('with sentinels, the replicas are examined, too', async (t) => {
  const setup = await startSentinels({ dataDir: createDataDir(t) })
  t.teardown(() => setup.close())
  await operate(t, setup.servers[2]!).config('SET', 'maxmemory', '0')
  t.match(await examine(setup.url), {
    state: 'degraded',
    details: [`The replica 127.0.0.1:${setup.servers[2]!.port} has no memory limit (maxmemory 0).`],
    facts: { replicas: { length: 2 } },
  })
})

t.test('of a cluster, the other servers and replicas are degraded, and named', async (t) => {
  const cluster = await startRedisCluster({
    dataDir: createDataDir(t),
    config: ['cluster-require-full-coverage no'],
  })
  t.teardown(() => cluster.close())
  t.match(await examine(cluster.url), {
    state: 'ok',
    facts: { servers: { length: 3 }, replicas: { length: 3 } },
  })
  const [main, third] = cluster.servers
  t.equal(await cluster.primaryOf(shardPrefix(0)), main)
  const lost = [cluster.servers[1]!, cluster.servers[4]!]

  const operators = [lost[0]!, cluster.servers[5]!].map((server) => operate(t, server))
  await operators[0]!.config('SET', 'min-replicas-to-write', '5')
  await operators[1]!.config('SET', 'maxmemory-policy', 'allkeys-lru')
  const others = [
    `127.0.0.1:${third!.port}: Redis has fewer replicas than min-replicas-to-write.`,
    `The replica 127.0.0.1:${cluster.servers[5]!.port} has maxmemory-policy allkeys-lru, not noeviction.`,
  ]
  t.match(await examine(cluster.url), { state: 'degraded', details: others })

  await Promise.all(lost.map((server) => server.process.kill()))
  const { state, details, findings } = await examine(cluster.url)
  t.equal(state, 'degraded')
  t.same(details, [`127.0.0.1:${lost[0]!.port}: it does not respond.`, others[1]])
  t.match(findings[0], { code: 'redis_connection', change: /redis-connection\.md says/ })

  await Promise.all(lost.map((server) => server.process.start()))
  await cluster.untilWhole()
  await main!.process.kill()
  await cluster.servers[3]!.process.kill()
  const down = await examine(cluster.url)
  t.match(down, { state: 'down', details: [`127.0.0.1:${main!.port}: it does not respond.`] })
})

t.test('a server that is no cluster', async (t) => {
  const [port] = await freePorts(1)
  const server = await createRedisServer({ dataDir: createDataDir(t), port: port! })
  t.teardown(() => server.process.kill())
  await server.process.start()
  t.match(await examine(server.url.replace('redis:', 'redis+cluster:')), {
    state: 'down',
    details: ['ERR This instance has cluster support disabled.'],
  })
})
