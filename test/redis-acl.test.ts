import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startClickHouse, startS3 } from '@intake/engines'
import { connectRedis } from '@intake/redis'
import { createAppProcess } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'

const root = fileURLToPath(new URL('../', import.meta.url))
const dataDir = createDataDir(t)
const acl = readFileSync(join(root, 'deploy/redis/users.acl'), 'utf8')
const passwordOf = (user: string) => `${user}-secret`
const apiKey = 'acl-key-0123456789abcdef'

const aclFile = join(dataDir, 'users.acl')
writeFileSync(
  aclFile,
  acl.replaceAll(/>([A-Z]+)_PASSWORD/g, (_, user: string) => `>${passwordOf(user.toLowerCase())}`),
)
const [redisPort, gatewayPort] = await freePorts(2)
const redis = await createRedisServer({
  dataDir,
  port: redisPort!,
  config: [`aclfile ${aclFile}`],
})
t.teardown(() => redis.process.kill())
const [clickhouse, s3] = await Promise.all([
  redis.process
    .start()
    .then(() => startClickHouse({ dataDir: join(dataDir, 'clickhouse'), port: 0 })),
  startS3({ dataDir: join(dataDir, 's3'), port: 0 }),
])
t.teardown(() => Promise.all([clickhouse.stop(), s3.stop()]))

const urlOf = (user: string, password = user) =>
  `redis://${user}:${passwordOf(password)}@127.0.0.1:${redisPort}`
const services = { CLICKHOUSE_URL: clickhouse.url, S3_ENDPOINT: s3.url }
const admin = connectRedis({
  url: urlOf('default', 'admin'),
  role: 'consumer',
  onError: () => undefined,
})
t.teardown(() => admin.disconnect())

/** Runs the command line as the user `operator`. */
async function intake(...args: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [join(root, 'packages/cli/dist/main.js'), ...args], {
    env: { ...process.env, ...services, REDIS_URL: urlOf('operator'), INTAKE_API_KEY: apiKey },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, output: stdout + stderr }
}

async function startApp(t: Test, name: 'gateway' | 'worker', env: Record<string, string>) {
  const app = createAppProcess({
    name,
    args: [join(root, name, 'dist/main.js')],
    env: { ...services, REDIS_URL: urlOf(name), ...env },
    logFile: join(dataDir, `${name}.log`),
  })
  t.teardown(() => app.kill())
  await app.start()
  return app
}

const device = {
  bundle_identifier: 'com.example.acl',
  device: {},
  device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-0123456789ab',
  unique_user_id: 'user-1',
}

t.test('gateway, worker and operator need no more than the file of users allows', async (t) => {
  const commands = [['setup'], ['keys', 'create', '--name', 'second'], ['keys', 'list']]
  for (const args of commands) {
    const { code, output } = await intake(...args)
    t.equal(code, 0, `${args.join(' ')}: ${output}`)
  }
  const worker = await startApp(t, 'worker', {
    WORKER_ADMIN_PORT: '0',
    QUEUE_UI_PASSWORD: 'queues of the test',
    FEEDBACK_WEBHOOK_URL: `http://127.0.0.1:${gatewayPort}/nobody`,
    FEEDBACK_WEBHOOK_SECRET: 'a secret of the test',
  })
  await startApp(t, 'gateway', {
    PORT: String(gatewayPort),
    GATEWAY_ADMIN_PORT: '0',
    QUEUE_SHARDS: '2',
  })
  const gateway = `http://127.0.0.1:${gatewayPort}`
  await until('the gateway is ready', async () => (await fetch(`${gateway}/readyz`)).ok)

  const send = (key: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway}/api/log`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ ...device, log: { event: key } }),
    })
  const form = new FormData()
  form.append('payload', JSON.stringify({ ...device, feedback: { text: 'acl' } }))
  t.equal((await send('plain')).status, 201)
  t.equal((await send('keyed', { 'idempotency-key': 'one' })).status, 201)
  t.equal((await send('keyed', { 'idempotency-key': 'one' })).status, 201)
  const headers = { 'x-api-key': apiKey }
  const feedback = await fetch(`${gateway}/api/feedback`, { method: 'POST', headers, body: form })
  t.equal(feedback.status, 201)
  const queues = async () =>
    (await admin.llen('{intake}:logs:wait')) + (await admin.llen('{intake}:feedback:wait'))
  await until('the worker has taken everything', async () => (await queues()) === 0)
  const ui = await fetch(`${worker.adminUrl()}/queues/api/queues`, {
    headers: { authorization: `Basic ${btoa('x:queues of the test')}` },
  })
  t.equal(ui.status, 200)

  for (const args of [
    ['doctor'],
    ['queue', 'pause', 'logs'],
    ['queue', 'resume', 'logs'],
    ['user', 'export', 'user-1'],
    ['user', 'erase', 'user-1'],
    ['retention', 'set', 'logs', '90'],
    ['retention', 'show'],
    ['trace', device.device_uuid],
  ]) {
    const { output } = await intake(...args)
    t.notMatch(output, /NOPERM|lacks a permission/, args.join(' '))
  }
  const denied = (await admin.acl('LOG')) as unknown[]
  t.same(denied, [], 'Redis has denied nothing')
})

t.test('no user of the file may do more than it needs', async (t) => {
  for (const user of ['gateway', 'worker', 'operator']) {
    const limited = connectRedis({ url: urlOf(user), role: 'consumer', onError: () => undefined })
    t.teardown(() => limited.disconnect())
    for (const [command, ...args] of [
      ['FLUSHALL'],
      ['CONFIG', 'SET', 'appendonly', 'no'],
      ['ACL', 'LIST'],
      ['KEYS', '*'],
      ['GET', 'others'],
      ['CLIENT', 'KILL', 'TYPE', 'normal'],
      ['SHUTDOWN'],
      ['REPLICAOF', 'NO', 'ONE'],
    ]) {
      await t.rejects(limited.call(command!, ...args), { message: /^NOPERM/ }, `${user} ${command}`)
    }
  }
})
