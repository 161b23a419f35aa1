import t, { type Test } from 'tap'
import { ConsoleConfig, digestShared, GatewayConfig } from '@intake/config'
import { claimInstallation, startPresence } from '@intake/redis'
import { loadConfig } from '@intake/runtime/config'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { examineRedis } from '../src/doctor/redis.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)
await claimInstallation(redis, 'test')

const schemas = { gateway: GatewayConfig, console: ConsoleConfig }
const endpoints = {
  REDIS_URL: server.url,
  CLICKHOUSE_URL: 'http://c@127.0.0.1',
  S3_ENDPOINT: 'http://a:b@127.0.0.1',
  FEEDBACK_WEBHOOK_SECRET: 'a text of 16 characters',
}

type Env = Record<string, string>

function start(t: Test, service: keyof typeof schemas, env: Env = {}): void {
  const schema = schemas[service]
  const settings = digestShared(schema, loadConfig(schema, { ...endpoints, ...env }))
  const onError = (error: unknown) => t.fail(String(error))
  const presence = startPresence({ redis, service, settings, onError })
  t.teardown(() => presence.close())
}

const findings = async (env: Env = {}) => {
  const expected = { assertsDurability: true, replicasMin: 0, env: { ...endpoints, ...env } }
  const found = await examineRedis(server.url, expected)
  return found.findings.filter(({ code }) => code === 'configuration')
}

t.test('processes with the same settings, and others that may differ, are right', async (t) => {
  start(t, 'gateway', { PORT: '3000', DRAIN_MS: '5', S3_PREFIX: 'team' })
  // The same folder.
  start(t, 'gateway', { PORT: '3001', S3_PREFIX: 'team/' })
  start(t, 'console', { S3_PREFIX: 'team', FEEDBACK_WEBHOOK_TOKEN: '' })
  await until('all report', async () => (await redis.zcard('{intake}:processes')) >= 5)
  t.same(await findings({ S3_PREFIX: 'team/' }), [])
})

t.test('a setting that differs is named with who has it, and no value', async (t) => {
  start(t, 'gateway', { REDIS_ACK_REPLICAS: '1', KEEP_METADATA: 'true' })
  start(t, 'gateway', { REDIS_ACK_REPLICAS: '1', RATE_LIMIT_MAX: '99' })
  start(t, 'console', { FEEDBACK_WEBHOOK_URL: 'http://hook/PRIVATE' })
  start(t, 'console', { FEEDBACK_WEBHOOK_URL: 'http://hook/OTHER' })
  await until('all report', async () => (await redis.zcard('{intake}:processes')) === 8)
  const found = await findings({ S3_BUCKET: 'mine' })
  t.ok(found.every(({ state }) => state === 'degraded'))
  const those = (name: string, who: string) =>
    `${name} is not the same in all processes that have it: ${who}.`
  t.same(found.map(({ detail }) => detail).toSorted(), [
    those('FEEDBACK_WEBHOOK_URL', 'console'),
    those('KEEP_METADATA', 'console, gateway'),
    those('RATE_LIMIT_MAX', 'gateway'),
    those('REDIS_ACK_REPLICAS', 'gateway, this command'),
    those('S3_BUCKET', 'console, gateway, this command'),
  ])
  const stored = (await redis.zrange('{intake}:processes', '0', '-1')).join()
  t.notMatch(stored, /PRIVATE|hook/)
  t.notMatch(stored, /"[0-9a-f]{5,}"/, 'a digest is of too few bits to confirm a guess')
})
