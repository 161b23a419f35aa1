import t from 'tap'
import { createApiKeyStore } from '@intake/access'
import { claimInstallation } from '@intake/redis'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { examineRedis } from '../src/doctor/redis.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)
await claimInstallation(redis, 'test')

const keysKey = '{intake}:api-keys'
const findings = async () => {
  const found = await examineRedis(server.url, { assertsDurability: true, replicasMin: 0 })
  t.ok(found.facts, 'the rest is examined')
  return found.findings.filter(({ code }) => code === 'redis_lost_its_data')
}

t.test('entries that cannot be read are named, without their content', async (t) => {
  const { key } = await createApiKeyStore({ redis }).create({ name: 'SECRET' })
  t.same(await findings(), [])
  const [field] = await redis.hkeys(keysKey)
  await redis.hset(keysKey, field!, JSON.stringify({ ...key, expiresAt: 'SECRET' }))
  await redis.hset(keysKey, 'another-field', 'SECRET')
  await redis.hset('{intake}:retention', 'logs:dropped-until', 'SECRET')
  const found = await findings()
  const sorted = found.toSorted((one, other) => one.detail.localeCompare(other.detail))
  t.match(sorted, [
    { state: 'degraded', detail: new RegExp(key.id, 'i') },
    { state: 'degraded', detail: /another-… of \{intake\}:api-keys cannot be read/ },
    {
      state: 'degraded',
      detail: /the field logs:dropped-until of \{intake\}:retention cannot be read/i,
    },
  ])
  t.notMatch(JSON.stringify(found), 'SECRET')
})

t.test('another type under the names of the keys and the policy is named', async (t) => {
  await redis.set(keysKey, 'garbage')
  await redis.set('{intake}:suppressed', 'garbage')
  t.match(await findings(), [
    { state: 'down', detail: /^The API keys cannot be read: WRONGTYPE/ },
    { state: 'down', detail: /^The policy cannot be read: WRONGTYPE/ },
  ])
})

t.test('a Redis that refuses to read them has not lost its data', async (t) => {
  const [, maxmemory] = await redis.config('GET', 'maxmemory')
  await redis.config('SET', 'maxmemory', '1')
  t.teardown(() => redis.config('SET', 'maxmemory', maxmemory!))
  const found = await examineRedis(server.url, { assertsDurability: true, replicasMin: 0 })
  t.match(found.findings, [
    { code: 'redis_connection', detail: /^Redis uses all of its memory: raise its maxmemory/ },
  ])
})
