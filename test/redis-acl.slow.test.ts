import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { startClickHouse, startS3 } from '@intake/local'
import { createPolicyStore } from '@intake/access'
import { registerShard } from '@intake/queue'
import { readOldestWaiting } from '@intake/queue'
import { connectRedis } from '@intake/redis'
import { createAppProcess } from '@intake/test-kit/app-process'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { createRedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import { createIntake } from '../tools/cli/test/in-process.ts'

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
const [redisPort, replicaPort, gatewayPort] = (await freePorts(3)) as [number, number, number]
// Redis uses the last value of a setting. These lines clear the password and let the replica log in
// as the administrator.
const aclConfig = [
  'requirepass ""',
  'masteruser default',
  `masterauth ${passwordOf('admin')}`,
  `aclfile ${aclFile}`,
]
const redis = await createRedisServer({ dataDir, port: redisPort, config: aclConfig })
const replica = await createRedisServer({
  dataDir,
  port: replicaPort,
  config: [...aclConfig, `replicaof 127.0.0.1 ${redisPort}`],
})
t.teardown(() => Promise.all([redis.process.kill(), replica.process.kill()]))
const [clickhouse, s3] = await Promise.all([
  redis.process
    .start()
    .then(() => replica.process.start())
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

const runIntake = createIntake({
  cwd: dataDir,
  env: {
    ...services,
    REDIS_URL: urlOf('operator'),
    REDIS_ACK_REPLICAS: '1',
    INTAKE_API_KEY: apiKey,
  },
})

/** Runs the command line as the user `operator`. */
async function intake(...args: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await runIntake(args)
  return { code, output: stdout + stderr }
}

async function startApp(
  t: Test,
  name: 'gateway' | 'worker' | 'console',
  env: Record<string, string>,
) {
  const app = createAppProcess({
    name,
    args: [join(root, name, 'dist/main.js')],
    // A console has the rights of a worker.
    env: { ...services, REDIS_URL: urlOf(name === 'console' ? 'worker' : name), ...env },
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
  await startApp(t, 'worker', { WORKER_ADMIN_PORT: '0' })
  await startApp(t, 'console', {
    CONSOLE_ADMIN_PORT: '0',
    FEEDBACK_WEBHOOK_URL: `http://127.0.0.1:${gatewayPort}/nobody`,
    FEEDBACK_WEBHOOK_SECRET: 'a secret of the test, long enough',
  })
  await startApp(t, 'gateway', {
    PORT: String(gatewayPort),
    GATEWAY_ADMIN_PORT: '0',
    REDIS_ACK_REPLICAS: '1',
  })
  const gateway = `http://127.0.0.1:${gatewayPort}`
  await until('the gateway is ready', async () => (await fetch(`${gateway}/readyz`)).ok)
  await until(
    'gateway and worker report',
    async () => (await admin.zcard('{intake}:processes')) === 2,
  )

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

  // A record that is added to a paused queue waits until the queue is resumed.
  t.equal((await intake('queue', 'pause')).code, 0)
  t.equal((await send('paused', { 'idempotency-key': 'two' })).status, 201)
  // Does what `erase --suppress` and `retention apply` do first. The commands themselves are not
  // run, because each of them would wait a minute after this step.
  const operator = connectRedis({
    url: urlOf('operator'),
    role: 'consumer',
    onError: () => undefined,
  })
  t.teardown(() => operator.disconnect())
  const policy = createPolicyStore({ redis: operator })
  t.ok(await policy.suppress({ kind: 'user', id: 'user-2' }))
  await policy.noteDropped('logs', new Date(0))
  const imported = join(dataDir, 'events.ndjson')
  const timestamp = new Date().toISOString()
  writeFileSync(imported, JSON.stringify({ event: 'old', timestamp, distinct_id: 'user-3' }))
  const sender = ['--bundle', device.bundle_identifier, '--device', device.device_uuid]
  for (const [args, code] of [
    [['trace', '--key', 'two', ...sender], 0],
    [['user', 'export', 'user-1'], 0],
    [['queue', 'resume'], 0],
    [['user', 'erase', 'user-1'], 3],
    [['user', 'unsuppress', 'user-2'], 0],
    [['retention', 'set', 'logs', '90d'], 0],
    [['retention', 'show'], 0],
    [['retention', 'apply', '--dry-run'], 0],
    [['rules', 'add', 'drop', '--event', 'noise'], 0],
    [['rules', 'list'], 0],
    [['alerts', 'add', '--bundle', 'com.example', '--event', 'crash', '--above', '9'], 0],
    [['alerts', 'list'], 0],
    [['dead-letters', 'list'], 0],
    [['import', imported, '--map', 'posthog', '--bundle', 'com.example.acl'], 0],
    [['setup', '--accept-empty-redis'], 0],
    [['trace', device.device_uuid], 3],
  ] as const) {
    const { code: ended, output } = await intake(...args)
    t.equal(ended, code, `${args.join(' ')}: ${output}`)
    t.notMatch(output, /NOPERM|lacks a permission/, args.join(' '))
  }
  t.notMatch((await intake('doctor')).output, /NOPERM|lacks a permission/)
  await until('the queue is empty again', async () => (await queues()) === 0)
  const [, alert = ''] = /^(alert_\w+)/m.exec((await intake('alerts', 'list')).output) ?? []
  t.match((await intake('alerts', 'test', alert)).output, 'It could not be sent', 'it was tried')
  t.equal((await intake('alerts', 'remove', alert)).code, 0)
  const [, key] = /^(key_\w+)\tsecond/m.exec((await intake('keys', 'list')).output) ?? []
  t.equal((await intake('keys', 'revoke', key ?? '')).code, 0)
  const denied = (await admin.acl('LOG')) as unknown[]
  t.same(denied, [], 'Redis has denied nothing')
})

/** Commands that must be refused, by user. Each of them would do harm. */
const refused: Record<string, string[][]> = {
  everybody: [
    ['FLUSHALL'],
    ['CONFIG', 'SET', 'appendonly', 'no'],
    ['ACL', 'LIST'],
    ['ACL', 'SETUSER', 'default', 'nopass'],
    ['KEYS', '*'],
    ['SCAN', '0'],
    ['RANDOMKEY'],
    ['DUMP', '{intake}:api-keys'],
    ['MIGRATE', '127.0.0.1', '1', '{intake}:api-keys', '0', '1'],
    ['GET', 'others'],
    ['CLIENT', 'KILL', 'TYPE', 'normal'],
    ['CLIENT', 'LIST'],
    ['MONITOR'],
    ['PSYNC', '?', '-1'],
    ['SCRIPT', 'FLUSH'],
    ['FUNCTION', 'LIST'],
    ['MODULE', 'LIST'],
    ['PUBLISH', 'channel', 'text'],
    ['SHUTDOWN'],
    ['REPLICAOF', 'NO', 'ONE'],
    ['CLUSTER', 'RESET'],
    // These commands would harm waiting records and data that an installation needs.
    ['DEL', '{intake}:logs:019aa5e6-5c40-7abc-8def-0123456789ab-1-1', '{intake}:api-keys'],
    ['RENAME', '{intake}:api-keys', '{intake}:logs:id'],
    ['COPY', '{intake}:api-keys', '{intake}:logs:id'],
    ['DEL', '{intake}:api-keys'],
    ['DEL', '{intake}:installation'],
    ['DEL', '{intake}:shards'],
    ['SREM', '{intake}:shards', '1'],
  ],
  gateway: [
    ['HSET', '{intake}:api-keys', 'hash', '{}'],
    ['HSETNX', '{intake}:api-keys', 'hash', '{}'],
    ['HDEL', '{intake}:api-keys', 'hash'],
    ['UNLINK', '{intake}:api-keys'],
    ['EXPIRE', '{intake}:api-keys', '1'],
    ['EXPIREAT', '{intake}:api-keys', '1'],
    ['SET', '{intake}:api-keys', ''],
    ['HDEL', '{intake}:suppressed', 'hash'],
    ['HSET', '{intake}:suppressed', 'hash', ''],
    ['DEL', '{intake}:suppressed'],
    ['HSET', '{intake}:retention', 'logs', '0'],
    ['HSET', '{intake}:rules', 'rule_0', '{}'],
    ['HDEL', '{intake}:rules', 'rule_0'],
    ['SET', '{intake}:policy:revision', ''],
    ['SET', '{intake}:installation', 'other'],
    ['SET', '{intake:1a}:installation', 'other'],
    // These commands concern frames in the queues. A gateway may add frames, but must neither read
    // nor remove any.
    ['HGET', '{intake}:logs:019aa5e6-5c40-7abc-8def-0123456789ab-1-1', 'data'],
    ['HGETALL', '{intake:1a}:logs:019aa5e6-5c40-7abc-8def-0123456789ab-1-1'],
    ['LRANGE', '{intake}:logs:wait', '0', '-1'],
    ['LINDEX', '{intake}:feedback-webhook:wait', '-1'],
    ['RPOP', '{intake}:feedback:wait'],
    ['LTRIM', '{intake}:feedback:wait', '1', '0'],
    ['DEL', '{intake}:logs:wait'],
    ['SET', '{intake}:logs:wait', ''],
    ['ZREM', '{intake}:logs:delayed', 'x'],
    ['XRANGE', '{intake}:logs:events', '-', '+'],
    ['HGETALL', '{intake}:feedback-webhook:meta'],
    ['LPUSH', '{intake}:feedback-webhook:wait', 'x'],
    ['SET', '{intake}:watermark:turn', ''],
  ],
  worker: [
    ['CONFIG', 'GET', '*'],
    ['HGETALL', '{intake}:api-keys'],
    ['HSET', '{intake}:api-keys', 'hash', '{}'],
    ['HDEL', '{intake}:api-keys', 'hash'],
    ['SET', '{intake}:api-keys', ''],
    ['HGETALL', '{intake}:suppressed'],
    ['HDEL', '{intake}:suppressed', 'hash'],
    ['HGETALL', '{intake}:rules'],
    ['HDEL', '{intake}:alerts', 'alert_0'],
    ['HSET', '{intake}:retention', 'logs', '0'],
    ['SET', '{intake}:policy:revision', ''],
    ['SET', '{intake}:installation', 'other'],
    ['SADD', '{intake}:shards', '2'],
    ['HGETALL', '{intake:90}:logs:20782:90'],
    ['DEL', '{intake:1a}:logs:20782:1a'],
    ['DEL', '{intake:90}:feedback:20782:90'],
    ['DEL', '{intake}:reservations:used:logs:20782'],
    ['SET', '{intake}:rate:key_0', '0'],
    ['HSET', '{intake}:queued:1', 'key_0', '0'],
  ],
  operator: [
    ['HDEL', '{intake}:api-keys', 'hash'],
    ['DEL', '{intake}:suppressed'],
    ['DEL', '{intake}:rules'],
    ['DEL', '{intake}:logs:019aa5e6-5c40-7abc-8def-0123456789ab-1-1'],
    ['HMSET', '{intake}:feedback:019aa5e6-5c40-7abc-8def-0123456789ab-1-1', 'data', ''],
    ['RPOP', '{intake}:logs:wait'],
    ['HSET', '{intake:90}:logs:20782:90', 'x', 'y'],
    ['DEL', '{intake:90}:logs:20782:90'],
    ['HSET', '{intake}:reservations:used:logs:20782', 'key_0', '0'],
    ['HGETALL', '{intake}:feedback-webhook:meta'],
  ],
}

t.test('no user of the file may do more than it needs, by itself or in a script', async (t) => {
  for (const user of ['gateway', 'worker', 'operator']) {
    const limited = connectRedis({ url: urlOf(user), role: 'consumer', onError: () => undefined })
    t.teardown(() => limited.disconnect())
    for (const [command, ...args] of [...refused['everybody']!, ...refused[user]!]) {
      const name = [user, command, ...args].join(' ')
      await t.rejects(limited.call(command!, ...args), { message: /^NOPERM/ }, name)
      const words = [command, ...args].map((word) => `'${word}'`).join(', ')
      const keys = args.filter((word) => word.startsWith('{'))
      const script = limited.eval(`return redis.call(${words})`, keys.length, ...keys)
      // Redis refuses some commands in every script, with a message of its own.
      const message = /ACL failure|NOPERM|not allowed from script|can't (run|access)/i
      await t.rejects(script, { message }, `${name}, in a script`)
    }
  }
})

t.test('what a gateway may read of the settings of Redis has no password', async (t) => {
  for (const user of ['gateway', 'operator']) {
    const limited = connectRedis({ url: urlOf(user), role: 'consumer', onError: () => undefined })
    t.teardown(() => limited.disconnect())
    t.same(await limited.config('GET', 'requirepass'), ['requirepass', ''], user)
  }
})

t.test('a gateway may read what the shares of the queue need', async (t) => {
  const gateway = connectRedis({
    url: urlOf('gateway'),
    role: 'consumer',
    onError: () => undefined,
  })
  t.teardown(() => gateway.disconnect())
  await t.resolves(readOldestWaiting(gateway, [0, 1]))
  const key = '{intake}:queued:1'
  const counted = gateway.multi().hincrby(key, 'key_0', 1).expire(key, 60)
  t.same(await counted.exec(), [
    [null, 1],
    [null, 1],
  ])
  t.same(await gateway.hgetall(key), { key_0: '1' })
  t.equal(await gateway.del(key), 1)
})

t.test('a gateway marks a new shard, and replaces no mark', async (t) => {
  const gateway = connectRedis({
    url: urlOf('gateway'),
    role: 'consumer',
    onError: () => undefined,
  })
  t.teardown(() => gateway.disconnect())
  t.equal(await registerShard(gateway, 1), 'ready')
  const mark = await admin.get('{intake:1a}:installation')
  t.type(mark, 'string')
  t.equal(await gateway.setnx('{intake:1a}:installation', 'other'), 0)
  t.equal(await admin.get('{intake:1a}:installation'), mark)
})
