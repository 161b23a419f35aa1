import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createPolicyStore } from '@intake/access'
import type { ClickHouse } from '@intake/clickhouse'
import { readOldestQueued, registerShard } from '@intake/queue'
import { migrate } from '@intake/schema'
import { startApp } from '@intake/test-kit/app'
import { createDataDir } from '@intake/test-kit/data-dir'
import { freePorts } from '@intake/test-kit/free-ports'
import { openRedis } from '@intake/test-kit/open-redis'
import { keepServices, ownPreparedClickHouse, ownS3 } from '@intake/test-kit/own-services'
import { postFeedback, postLog } from '@intake/test-kit/post'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { startSentinels } from '@intake/test-kit/redis-sentinel'
import { createRedisServer, redisPassword, type RedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import { createIntake } from '../tools/cli/test/in-process.ts'

const acl = readFileSync(new URL('../deploy/redis/users.acl', import.meta.url), 'utf8')
const apiKey = 'acl-key-0123456789abcdef'

keepServices(t)
const dataDir = createDataDir(t)
const aclFile = join(dataDir, 'users.acl')
writeFileSync(
  aclFile,
  acl
    .replaceAll(/>ADMIN_PASSWORD/g, `>${redisPassword}`)
    .replaceAll(/>([A-Z]+)_PASSWORD/g, (_, user: string) => `>${user.toLowerCase()}-secret`),
)
const [redisPort, replicaPort] = (await freePorts(2)) as [number, number]
// Redis uses the last value of a setting. These lines clear the password and let the replica log in
// as the administrator.
const config = ['requirepass ""', 'masteruser default', `aclfile ${aclFile}`]
const single = await createRedisServer({ dataDir, port: redisPort, config })
const replica = await createRedisServer({
  dataDir,
  port: replicaPort,
  config: [...config, `replicaof 127.0.0.1 ${redisPort}`],
})
t.teardown(() => Promise.all([single.process.kill(), replica.process.kill()]))
await single.process.start()
await replica.process.start()
const admin = openRedis(t, single)

const asUser = (url: string, user: string) =>
  url.replace(`default:${redisPassword}@`, `${user}:${user}-secret@`)
const userOf = (t: Test, user: string) => openRedis(t, { url: asUser(single.url, user) })

const device = {
  bundle_identifier: 'com.example.acl',
  device_uuid: 'bd9c40f6-2f4f-4b8a-9d3b-0123456789ab',
}

/**
 * Does what the users of the ACL file do: sets up, stores records and runs the operator's commands.
 * Redis must not deny any command.
 */
async function useIt(
  t: Test,
  { url, servers, shards = 1 }: { url: string; servers: RedisServer[]; shards?: number },
): Promise<void> {
  const folder = createDataDir(t)
  const admins = servers.map((server) => openRedis(t, server))
  const prepare = (clickhouse: ClickHouse) => migrate({ clickhouse })
  const clickhouse = await ownPreparedClickHouse(t, { name: 'migrated', prepare })
  const s3 = await ownS3(t)
  const [port] = (await freePorts(1)) as [number]
  const gateway = `http://127.0.0.1:${port}`
  const envOf = (user: string) => ({
    CLICKHOUSE_URL: clickhouse.url,
    S3_ENDPOINT: s3.url,
    REDIS_URL: asUser(url, user),
    REDIS_ACK_REPLICAS: '1',
  })
  const env = { ...envOf('operator'), INTAKE_API_KEY: apiKey }
  const runIntake = createIntake({ cwd: folder, env })
  const intake = async (...args: string[]) => {
    const { code, stdout, stderr } = await runIntake(args)
    const output = stdout + stderr
    t.notMatch(output, /NOPERM|lacks a permission/, args.join(' '))
    return { code, output }
  }
  const succeed = async (args: readonly string[], expected = 0) => {
    const { code, output } = await intake(...args)
    t.equal(code, expected, `${args.join(' ')}: ${output}`)
    return output
  }
  const start = (name: 'gateway' | 'worker' | 'console', own: Record<string, string> = {}) => {
    // A console has the rights of a worker.
    const user = name === 'console' ? 'worker' : name
    return startApp(t, name, { dataDir: folder, env: { ...envOf(user), ...own } })
  }

  for (const args of [['setup'], ['keys', 'create', '--name', 'second']]) await succeed(args)
  await start('worker')
  const { log } = await start('console', {
    FEEDBACK_WEBHOOK_URL: `${gateway}/nobody`,
    FEEDBACK_WEBHOOK_SECRET: 'a secret of the test, long enough',
  })
  await start('gateway', { PORT: String(port), QUEUE_SHARDS: String(shards) })
  await until('the gateway is ready', async () => (await fetch(`${gateway}/readyz`)).ok)

  const target = { url: gateway, apiKey }
  const idOf = async (sent: Promise<Response>) => {
    const response = await sent
    t.equal(response.status, 201)
    return ((await response.json()) as { id: string }).id
  }
  const send = (event: string, headers: Record<string, string> = {}) =>
    idOf(postLog(target, { event }, { record: device, headers }))
  // Enough for each shard to get some.
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      // Each key is used twice.
      n % 2 === 1
        ? send(`keyed ${n >> 2}`, { 'idempotency-key': `key ${n >> 2}` })
        : send(`event ${n}`),
    ),
  )
  ids.push(await idOf(postFeedback(target, { text: 'acl' }, { record: device })))
  const untilStored = (id: string) =>
    until('it is stored', async () => (await intake('trace', id)).output.startsWith('stored'), {
      everyMs: 500,
    })
  for (const id of ids.slice(-2)) await untilStored(id)

  // A record that is added to a paused queue waits until the queue is resumed.
  await succeed(['queue', 'pause'])
  const paused = await send('paused', { 'idempotency-key': 'two' })
  // Does what `erase --suppress` and `retention apply` do first. The commands themselves are not
  // run, because each of them would wait a minute after this step.
  const policy = createPolicyStore({ redis: openRedis(t, { url: asUser(url, 'operator') }) })
  t.ok(await policy.suppress({ kind: 'user', id: 'user-2' }))
  await policy.noteDropped('logs', new Date(0))
  const imported = join(folder, 'events.ndjson')
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
    [['dead-letters', 'list'], 0],
    [['import', imported, '--map', 'posthog', '--bundle', 'com.example.acl'], 0],
    [['setup', '--accept-empty-redis'], 0],
    [['trace', device.device_uuid], 3],
  ] as const) {
    await succeed(args, code)
  }
  for (const command of ['status', 'doctor']) await intake(command)
  await untilStored(paused)
  const [, alert = ''] = /^(alert_\w+)/m.exec(await succeed(['alerts', 'list'])) ?? []
  await succeed(['alerts', 'test', alert])
  const givenUp = 'a webhook request was given up'
  await until('a console has tried to send it', () => log.some(({ msg }) => msg === givenUp))
  await succeed(['alerts', 'remove', alert])
  const [, key = ''] = /^(key_\w+)\tsecond/m.exec(await succeed(['keys', 'list'])) ?? []
  await succeed(['keys', 'revoke', key])
  for (const one of admins) t.same(await one.acl('LOG'), [], 'Redis has denied nothing')
}

t.test('gateway, worker and operator need no more than the file of users allows', (t) =>
  useIt(t, { url: single.url, servers: [single] }),
)

/** Gives servers the users of the file. A selector, which is in parentheses, is one rule. */
async function setUsers(t: Test, servers: RedisServer[]): Promise<void> {
  const users = readFileSync(aclFile, 'utf8').matchAll(/^user (?!default)(\S+) (.*)$/gm)
  for (const [, name = '', rules = ''] of users) {
    for (const server of servers) {
      await openRedis(t, server).call(
        'ACL',
        'SETUSER',
        name,
        ...(rules.match(/\([^)]*\)|\S+/g) ?? []),
      )
    }
  }
}

t.test('the users of the file suffice in a Redis Cluster with replicas', async (t) => {
  const cluster = await startRedisCluster({ dataDir: createDataDir(t) })
  t.teardown(() => cluster.close())
  await setUsers(t, cluster.servers)
  await useIt(t, { ...cluster, shards: 3 })
})

t.test('the users of the file suffice with sentinels', async (t) => {
  const sentinels = await startSentinels({ dataDir: createDataDir(t) })
  t.teardown(() => sentinels.close())
  await setUsers(t, sentinels.servers)
  await useIt(t, sentinels)
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
    const limited = userOf(t, user)
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
    const limited = userOf(t, user)
    t.same(await limited.config('GET', 'requirepass'), ['requirepass', ''], user)
  }
})

t.test('a gateway may read what the shares of the queue need', async (t) => {
  const gateway = userOf(t, 'gateway')
  await t.resolves(readOldestQueued(gateway, [0, 1]))
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
  const gateway = userOf(t, 'gateway')
  t.equal(await registerShard(gateway, 1), 'ready')
  const mark = await admin.get('{intake:1a}:installation')
  t.type(mark, 'string')
  t.equal(await gateway.setnx('{intake:1a}:installation', 'other'), 0)
  t.equal(await admin.get('{intake:1a}:installation'), mark)
})
