import { once } from 'node:events'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createRedisServer, type RedisServer } from '@intake/test-kit/redis-server'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { claimInstallation, createExamination, primaryOf } from '../src/index.ts'

const [primaryPort, replicaPort] = await freePorts(2)
const primary = await createRedisServer({ dataDir: createDataDir(t), port: primaryPort! })
const replica = await createRedisServer({
  dataDir: createDataDir(t),
  port: replicaPort!,
  config: [`replicaof 127.0.0.1 ${primaryPort}`, 'replica-read-only no'],
})
t.teardown(() => Promise.all([primary, replica].map((one) => one.process.kill())))
await Promise.all([primary.process.start(), replica.process.start()])
const operator = openRedis(t, primary)

async function open(t: Test, { url }: RedisServer) {
  const redis = openRedis(t, { url }, 'producer')
  await until('it is connected', () => redis.status === 'ready')
  return redis
}

const lost = { message: 'Redis belongs to no installation' }

t.test('a Redis with the mark of an installation passes, once per socket', async (t) => {
  await claimInstallation(operator, 'one')
  const redis = await open(t, primary)
  const { requireExamined } = createExamination({ redis })
  await Promise.all([requireExamined(), requireExamined()])
  const reads = async () =>
    Number(/cmdstat_get:calls=(\d+)/.exec(await operator.info('commandstats'))?.[1])
  const before = await reads()
  await requireExamined()
  t.equal(await reads(), before)
})

t.test('each connection is examined by itself when it is connected again', async (t) => {
  await claimInstallation(operator, 'one')
  const [main, own] = [await open(t, primary), await open(t, primary)]
  const [ofMain, ofOwn] = [main, own].map((redis) => createExamination({ redis }))
  await Promise.all([ofMain!.requireExamined(), ofOwn!.requireExamined()])
  const connected = once(own, 'ready')
  primaryOf(own).stream.destroy()
  await until('it is closed', () => own.status !== 'ready')
  await t.rejects(ofOwn!.requireExamined(), { message: 'not connected to Redis' })
  await operator.flushall()
  await connected
  await t.rejects(ofOwn!.requireExamined(), lost)
  await claimInstallation(operator, 'one')
  await ofOwn!.requireExamined()
})

t.test('a socket that is replaced during the examination does not pass', async (t) => {
  await claimInstallation(operator, 'one')
  const redis = await open(t, primary)
  const { requireExamined } = createExamination({ redis })
  const examined = requireExamined()
  primaryOf(redis).stream.destroy()
  await t.rejects(examined)
})

t.test('a Redis that refuses to be examined does not pass', async (t) => {
  await claimInstallation(operator, 'one')
  const observer = openRedis(t, replica)
  await until('the replica has the mark', async () => {
    return (await observer.get('{intake}:installation')) === 'one'
  })
  const { requireExamined } = createExamination({ redis: await open(t, replica) })
  await t.rejects(requireExamined(), { message: 'Redis is a replica' })
})

t.test('what is known by other means counts at once', async (t) => {
  await claimInstallation(operator, 'one')
  let refusal: string | undefined
  const redis = await open(t, primary)
  const { requireExamined } = createExamination({ redis, refusalOf: () => refusal })
  await requireExamined()
  refusal = 'it is full'
  await t.rejects(requireExamined(), { message: refusal })
})
