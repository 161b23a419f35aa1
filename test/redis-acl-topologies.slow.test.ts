import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startClickHouse, startS3 } from '@intake/local'
import { connectRedis, type Redis } from '@intake/redis'
import { createAppProcess } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { startSentinels } from '@intake/test-kit/redis-sentinel'
import { redisPassword, type RedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import { createIntake } from '../tools/cli/test/in-process.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const users = readFileSync(join(root, 'deploy/redis/users.acl'), 'utf8')
  .trim()
  .split('\n')
  .flatMap((line) => {
    const [, name = '', rules = ''] = /^user (\S+) (.*)$/.exec(line) ?? []
    return name === 'default' ? [] : [{ name, rules: splitRules(rules) }]
  })
const apiKey = 'acl-key-0123456789abcdef'

/**
 * Splits rules at spaces. A selector, which is in parentheses, counts as one rule. Replaces every
 * password by `secret`.
 */
function splitRules(rules: string): string[] {
  return (rules.match(/\([^)]*\)|\S+/g) ?? []).map((rule) => rule.replace(/^>.*/, '>secret'))
}

/**
 * Does what the users of the ACL file do: sets up, stores records and runs the operator's commands.
 * Redis must not deny any command.
 */
async function useIt(
  t: Test,
  options: { url: string; servers: RedisServer[] },
  gatewayEnv: Record<string, string>,
): Promise<void> {
  const { url, servers } = options
  const dataDir = createDataDir(t)
  const admins: Redis[] = servers.map((server) =>
    connectRedis({ url: server.url, role: 'consumer', onError: () => undefined }),
  )
  t.teardown(() => admins.forEach((admin) => admin.disconnect()))
  for (const admin of admins) {
    for (const { name, rules } of users) await admin.call('ACL', 'SETUSER', name, ...rules)
  }
  const [clickhouse, s3] = await Promise.all([
    startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0 }),
    startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
  ])
  t.teardown(() => Promise.all([clickhouse.stop(), s3.stop()]))
  const [port] = (await freePorts(1)) as [number]
  const envOf = (user: string) => ({
    CLICKHOUSE_URL: clickhouse.url,
    S3_ENDPOINT: s3.url,
    REDIS_URL: url.replace(`default:${redisPassword}@`, `${user}:secret@`),
  })
  const runIntake = createIntake({
    cwd: dataDir,
    env: { ...envOf('operator'), INTAKE_API_KEY: apiKey },
  })
  const intake = async (...args: string[]) => {
    const { code, stdout, stderr } = await runIntake(args)
    t.notMatch(stdout + stderr, /NOPERM|lacks a permission/, args.join(' '))
    return { code, output: stdout + stderr }
  }
  const start = async (name: 'gateway' | 'worker', env: Record<string, string>) => {
    const app = createAppProcess({
      name,
      args: [join(root, name, 'dist/main.js')],
      env: { ...envOf(name), ...env },
      logFile: join(dataDir, `${name}.log`),
    })
    t.teardown(() => app.kill())
    await app.start()
  }

  t.match(await intake('setup'), { code: 0 })
  await start('worker', { WORKER_ADMIN_PORT: '0' })
  await start('gateway', {
    PORT: String(port),
    GATEWAY_ADMIN_PORT: '0',
    ...gatewayEnv,
    REDIS_ACK_REPLICAS: '1',
  })
  const gateway = `http://127.0.0.1:${port}`
  await until('the gateway is ready', async () => (await fetch(`${gateway}/readyz`)).ok)
  const sender = {
    bundle_identifier: 'com.example.acl',
    device: {},
    device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-0123456789ab',
    unique_user_id: 'user-1',
  }
  const headers = { 'x-api-key': apiKey }
  const ids = await Promise.all(
    Array.from({ length: 12 }, async (_, n) => {
      const response = await fetch(`${gateway}/api/log`, {
        method: 'POST',
        headers: {
          ...headers,
          'content-type': 'application/json',
          ...(n % 2 === 1 && { 'idempotency-key': `key ${n}` }),
        },
        body: JSON.stringify({ ...sender, log: { event: `event ${n}` } }),
      })
      t.equal(response.status, 201)
      return ((await response.json()) as { id: string }).id
    }),
  )
  const form = new FormData()
  form.append('payload', JSON.stringify({ ...sender, feedback: { text: 'acl' } }))
  const feedback = await fetch(`${gateway}/api/feedback`, { method: 'POST', headers, body: form })
  t.equal(feedback.status, 201)
  ids.push(((await feedback.json()) as { id: string }).id)
  await until('everything is stored', async () => {
    const found = await Promise.all(ids.slice(-2).map((id) => intake('trace', id)))
    return found.every(({ output }) => output.startsWith('stored'))
  })
  for (const args of [
    ['keys', 'list'],
    ['queue', 'pause'],
    ['queue', 'resume'],
    ['retention', 'set', 'logs', '90d'],
    ['status'],
    ['user', 'export', 'user-1'],
    ['user', 'erase', 'user-1'],
    ['doctor'],
  ]) {
    await intake(...args)
  }
  for (const admin of admins) t.same(await admin.acl('LOG'), [], 'Redis has denied nothing')
}

t.test('the users of the file suffice in a Redis Cluster with replicas', async (t) => {
  const cluster = await startRedisCluster({ dataDir: createDataDir(t) })
  t.teardown(() => cluster.close())
  await useIt(t, cluster, { QUEUE_SHARDS: '3' })
})

t.test('the users of the file suffice with sentinels', async (t) => {
  const sentinels = await startSentinels({ dataDir: createDataDir(t) })
  t.teardown(() => sentinels.close())
  await useIt(t, sentinels, {})
})
