import { totalmem } from 'node:os'
import t, { type Test } from 'tap'
import { startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { claimInstallation, pollRedisState, type RedisState } from '../src/index.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0, maxmemory: '100mb' })
t.teardown(() => server.stop())
const redis = openRedis(t, server)

/** Polls the state until it satisfies the condition. */
async function observe(t: Test, condition: (state: RedisState) => boolean): Promise<RedisState> {
  const poll = pollRedisState({
    redis,
    intervalMs: 10,
    onError: (error) => t.fail(String(error)),
  })
  t.teardown(() => poll.close())
  for (;;) {
    const state = poll.state()
    if (state !== undefined && condition(state)) return state
    await new Promise((resolve) => setImmediate(resolve))
  }
}

t.test('a durable Redis has no violations, and no mark until one is set', async (t) => {
  const state = await observe(t, () => true)
  t.match(state, { writeRefusal: undefined, durabilityViolations: [], installation: null })
  t.ok(state.memoryUsed > 0 && state.memoryUsed < 0.5)
  t.equal(await claimInstallation(redis, 'one'), 'one')
  t.equal(await claimInstallation(redis, 'two'), 'one', 'the first mark is kept')
  await observe(t, ({ installation }) => installation === 'one')
})

t.test('settings that lose records are in the state', async (t) => {
  await redis.config('SET', 'appendfsync', 'everysec')
  await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
  t.teardown(async () => {
    await redis.config('SET', 'appendfsync', 'always')
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
  })
  const state = await observe(t, () => true)
  const violations = [
    'Redis has appendfsync everysec, not always',
    'Redis has maxmemory-policy allkeys-lru, not noeviction',
  ]
  t.same(state.durabilityViolations, violations)
})

t.test('without maxmemory, the memory of the machine is the limit', async (t) => {
  const share = async () => (await observe(t, () => true)).memoryUsed
  await redis.config('SET', 'maxmemory', '0')
  t.teardown(() => redis.config('SET', 'maxmemory', '100mb'))
  t.ok((await share()) > 0 && (await share()) < 100e6 / totalmem())
})

t.test('the state follows the used share of memory', async (t) => {
  const before = (await observe(t, () => true)).memoryUsed
  await redis.set('large', 'x'.repeat(30 * 1024 * 1024))
  await observe(t, ({ memoryUsed }) => memoryUsed > before + 0.25)
  await redis.del('large')
  // Redis frees the buffer of the command a moment later.
  await observe(t, ({ memoryUsed }) => memoryUsed < before + 0.1)
})

t.test('the state is read at once on request', async (t) => {
  const poll = pollRedisState({ redis, intervalMs: 60_000, onError: () => {} })
  t.teardown(() => poll.close())
  const before = (await until('the state is known', () => poll.state())).memoryUsed
  await redis.set('large', 'x'.repeat(30 * 1024 * 1024))
  await poll.refresh()
  t.ok(poll.state()!.memoryUsed > before + 0.25)
  await redis.del('large')
})

t.test('settings that cannot be read are a violation, unless asserted', async (t) => {
  await redis.call('ACL', 'SETUSER', 'managed', 'on', '>managed', '~*', '+@all', '-config')
  const url = new URL(server.url)
  url.username = 'managed'
  url.password = 'managed'
  const managed = openRedis(t, { url: url.href }, 'producer')
  const stateWhen = async (assertsDurability: boolean) => {
    const onError = () => {}
    const poll = pollRedisState({ redis: managed, intervalMs: 10, assertsDurability, onError })
    t.teardown(() => poll.close())
    return until('the state is known', () => poll.state())
  }
  const unknown = await stateWhen(false)
  t.match(unknown.durabilityViolations, [/set REDIS_DURABILITY=asserted/])
  t.equal(unknown.isDurabilityAsserted, false)
  t.match(await stateWhen(true), { durabilityViolations: [], isDurabilityAsserted: true })
})
