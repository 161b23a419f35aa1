import t, { type Test } from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startSentinels } from '@intake/test-kit/redis-sentinel'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import { connectRedis, pollRedisState, type RedisRole } from '../src/index.ts'

const setup = await startSentinels({ dataDir: createDataDir(t) })
t.teardown(() => setup.close())

const open = (t: Test, role: RedisRole) => openRedis(t, setup, role)

t.test('both roles follow the sentinels to the new primary of a failover', async (t) => {
  const [producer, consumer] = [open(t, 'producer'), open(t, 'consumer')]
  const poll = pollRedisState({
    redis: producer,
    replicasMin: 1,
    intervalMs: 50,
    onError: () => undefined,
  })
  t.teardown(() => poll.close())
  await until('the state is known', () => poll.state() !== undefined)
  t.match(poll.state(), { writeRefusal: undefined, durabilityViolations: [] })
  await consumer.rpush('{intake}:before', 'job')
  t.equal(await consumer.wait(2, 60_000), 2, 'both replicas have it')
  const others = Array.from({ length: 30 }, () => open(t, 'producer'))
  await until('all are connected', () => others.every(({ status }) => status === 'ready'))
  const reading = consumer.blpop('{intake}:after', 0)

  const primary = await setup.primary()
  await primary.process.kill()
  await until('the producer writes', () =>
    producer.rpush('{intake}:after', 'job').then(
      () => true,
      () => false,
    ),
  )
  // The sentinels learn of the new primary one after another.
  await until('it is another one', async () => (await setup.primary()) !== primary)
  t.same(await reading, ['{intake}:after', 'job'])
  t.same(await consumer.lrange('{intake}:before', 0, -1), ['job'])

  await until('all are connected again', () => others.every(({ status }) => status === 'ready'), {
    progress: () => others.filter(({ status }) => status === 'ready').length,
    stallMs: 60_000,
  })

  await primary.process.start()
  await setup.untilWhole()
  await until('the gateway would accept', () => poll.state()?.writeRefusal === undefined)
})

t.test('a wrong password of the sentinels is the reason for the missing connection', async (t) => {
  const errors: string[] = []
  const url = setup.url.replace(/sentinel_password=\w+/, 'sentinel_password=wrong')
  const redis = connectRedis({
    url,
    role: 'producer',
    onError: ({ message }) => errors.push(message),
  })
  t.teardown(() => redis.disconnect())
  await until('it fails', () => errors.length > 0)
  t.match(errors[0], /All sentinels are unreachable.*WRONGPASS/)
})
