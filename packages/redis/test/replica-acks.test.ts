import { once } from 'node:events'
import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { createRedisServer, type RedisServer } from '@intake/test-kit/redis-server'
import { freePorts } from '@intake/test-kit/free-ports'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import {
  createReplicaAcks,
  NotReplicatedError,
  primaryOf,
  ReplyError,
  type Redis,
} from '../src/index.ts'

const dataDir = createDataDir(t)
const [primaryPort, replicaPort] = await freePorts(2)
const primary = await createRedisServer({ dataDir, port: primaryPort! })
const replica = await createRedisServer({
  dataDir,
  port: replicaPort!,
  config: [`replicaof 127.0.0.1 ${primaryPort}`],
})
t.teardown(() => Promise.all([primary, replica].map((one) => one.process.kill())))
await Promise.all([primary.process.start(), replica.process.start()])

function open(t: Test, { url }: RedisServer): Redis {
  const redis = openRedis(t, { url }, 'producer')
  return redis
}

const key = '{intake}:confirmed'

async function openReady(t: Test) {
  const redis = open(t, primary)
  // Waits, because Redis responds to INFO even before the connection is ready.
  await until('it is connected', () => redis.status === 'ready')
  await until('a replica is online', async () =>
    (await redis.info('replication')).includes('state=online'),
  )
  return redis
}

t.test('a confirmed write is on the replica', async (t) => {
  const redis = await openReady(t)
  const observer = open(t, replica)
  await until('it is connected', () => observer.status === 'ready')
  const acks = createReplicaAcks({ redis, replicas: 1 })
  const writes = Array.from({ length: 20 }, (_, index) =>
    acks.confirm({ key }, () => redis.rpush(key, String(index))),
  )
  // Some writes may not be confirmed within a second while the disk is busy.
  const outcomes = await Promise.allSettled(writes)
  const refused = outcomes.flatMap((one) =>
    one.status === 'rejected' ? [one.reason as Error] : [],
  )
  t.ok(refused.every((error) => error instanceof NotReplicatedError))
  await until('one more is confirmed', () => acks.confirm({ key }, () => redis.rpush(key, 'last')))
  t.ok((await observer.llen(key)) > 20)
})

t.test('writes that arrive meanwhile share the next WAIT', async (t) => {
  const redis = await openReady(t)
  const waits = async () => {
    const stats = await redis.info('commandstats')
    // Counts WAITAOF, which Redis has since 7.2, and WAIT, which is used with earlier versions.
    return Number(/cmdstat_wait(?:aof)?:calls=(\d+)/.exec(stats)?.[1] ?? 0)
  }
  const acks = createReplicaAcks({ redis, replicas: 1 })
  const write = () => acks.confirm({ key }, () => redis.set(key, 'x'))
  await until('one is confirmed', write)
  const before = await waits()
  await Promise.allSettled(Array.from({ length: 50 }, write))
  const more = (await waits()) - before
  t.ok(more >= 1 && more <= 3, `${more}`)
})

t.test('what was only read is on the replica, too', async (t) => {
  const [writer, redis] = [await openReady(t), await openReady(t)]
  const acks = createReplicaAcks({ redis, replicas: 1 })
  replica.process.freeze()
  t.teardown(() => replica.process.thaw())
  await writer.set(key, 'read')
  const read = () => acks.confirm({ key, hasWritten: () => false }, () => redis.get(key))
  await t.rejects(read(), NotReplicatedError)
  replica.process.thaw()
  t.equal(await until('the replica has it', read), 'read')
})

t.test('without enough replicas a write is not confirmed, and not refused', async (t) => {
  const redis = await openReady(t)
  const acks = createReplicaAcks({ redis, replicas: 2 })
  const refusal = await until('one replica has it in time', async () => {
    const error: unknown = await acks
      .confirm({ key }, () => redis.set(key, 'x'))
      .catch((reason: unknown) => reason)
    return /0 of 2 replicas/.test(String(error)) ? undefined : error
  })
  t.match(refusal, { name: 'NotReplicatedError', message: /1 of 2 replicas/ })
})

t.test('a connection that has changed confirms nothing', async (t) => {
  const redis = await openReady(t)
  const acks = createReplicaAcks({ redis, replicas: 1 })
  await t.rejects(
    acks.confirm({ key }, async () => {
      await redis.set(key, 'x')
      const connected = once(redis, 'ready')
      redis.disconnect(true)
      await connected
    }),
    { name: 'NotReplicatedError', message: /the connection has changed/ },
  )
})

t.test('an error of the command itself is passed on', async (t) => {
  const redis = await openReady(t)
  const acks = createReplicaAcks({ redis, replicas: 1 })
  await redis.set(key, 'x')
  await t.rejects(
    acks.confirm({ key }, () => redis.llen(key)),
    { message: /^WRONGTYPE/ },
  )
})

t.test('when WAITAOF is refused, the memory of replicas counts', async (t) => {
  const redis = await openReady(t)
  const server = primaryOf(redis)
  let refused = 0
  // Redis 7.2 and later reply like this with `appendonly no`. Earlier versions do not have WAITAOF.
  server.call = async () => {
    refused++
    throw new ReplyError(
      'ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.',
    )
  }
  const acks = createReplicaAcks({ redis, replicas: 1 })
  const write = () => acks.confirm({ key }, () => redis.set(key, 'x'))
  for (const _ of [1, 2]) t.equal(await until('it is confirmed', write), 'OK')
  t.equal(refused, 1, 'once per connection')
  const two = createReplicaAcks({ redis, replicas: 2 })
  await t.rejects(
    two.confirm({ key }, () => redis.set(key, 'x')),
    { message: /[01] of 2 replicas/ },
  )
})
