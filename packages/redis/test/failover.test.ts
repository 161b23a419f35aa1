import t, { type Test } from 'tap'
import { startRedis } from '@intake/local'
import { createDataDir } from '@intake/test-kit/data-dir'
import { openRedis } from '@intake/test-kit/open-redis'
import { startTcpProxy } from '@intake/test-kit/tcp-proxy'
import { until } from '@intake/test-kit/until'
import {
  createConnectionCheck,
  findWriteRefusal,
  pollRedisState,
  type RedisRole,
} from '../src/index.ts'

const password = 'failover'
const first = await startRedis({ dataDir: createDataDir(t), port: 0, password })
const second = await startRedis({ dataDir: createDataDir(t), port: 0, password })
t.teardown(() => Promise.all([first.stop(), second.stop()]))

/** An address that leads to one server after the other. */
async function openAddress(t: Test) {
  const proxy = await startTcpProxy({ target: first.port, random: Math.random })
  t.teardown(() => proxy.close())
  return {
    url: `redis://:${password}@127.0.0.1:${proxy.port}`,
    leadTo: (redis: { port: number }) => proxy.redirect(redis.port),
  }
}

const open = (t: Test, url: string, role: RedisRole) => openRedis(t, { url }, role)

/** Makes one of the two servers the primary, and the other its replica. */
async function promote(t: Test, primary: { port: number; url: string }): Promise<void> {
  const other = primary === first ? second : first
  const [promoted, demoted] = [primary, other].map(({ url }) => open(t, url, 'consumer'))
  await promoted!.replicaof('NO', 'ONE')
  await demoted!.config('SET', 'masterauth', password)
  await demoted!.replicaof('127.0.0.1', primary.port)
  await until('it is a replica', async () =>
    (await demoted!.info('replication')).includes('role:slave'),
  )
}

for (const role of ['producer', 'consumer'] as const) {
  t.test(`a ${role} whose Redis was demoted writes to the new primary`, async (t) => {
    await promote(t, first)
    const address = await openAddress(t)
    const redis = open(t, address.url, role)
    await until('it is connected', () => redis.status === 'ready')
    await redis.set('before', 'x')
    await promote(t, second)
    address.leadTo(second)
    await t.rejects(redis.set('after', role), { message: /^READONLY/ })
    // An error counts as false.
    await until('it writes', () => redis.set('after', role))
    t.equal(await open(t, second.url, 'consumer').get('after'), role)
  })
}

t.test('a blocking read on a Redis that is demoted continues on the new primary', async (t) => {
  await promote(t, first)
  const address = await openAddress(t)
  const redis = open(t, address.url, 'consumer')
  const read = async (): Promise<unknown> =>
    redis.blpop('queue', 0).catch((error: Error) => {
      t.match(error.message, /^(UNBLOCKED|READONLY)/)
      return read()
    })
  const reading = read()
  const observer = open(t, first.url, 'consumer')
  await until('a read blocks', async () =>
    (await observer.info('clients')).includes('blocked_clients:1'),
  )
  await promote(t, second)
  address.leadTo(second)
  await open(t, second.url, 'consumer').rpush('queue', 'job')
  t.same(await reading, ['queue', 'job'])
})

t.test('many commands that fail together close the connection once', async (t) => {
  await promote(t, second)
  const redis = open(t, first.url, 'producer')
  await until('it is connected', () => redis.status === 'ready')
  const warnings: string[] = []
  const warn = ({ message }: Error) => warnings.push(message)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const outcomes = await Promise.allSettled(
    Array.from({ length: 50 }, (_, index) => redis.set(`key-${index}`, 'x')),
  )
  t.ok(outcomes.every(({ status }) => status === 'rejected'))
  await until('it reconnects', () => redis.status === 'reconnecting')
  t.same(warnings, [])
})

for (const readOnly of ['yes', 'no']) {
  const title = `the state reports a replica (replica-read-only ${readOnly}) until the failover ends`
  t.test(title, (t) => followFailover(t, readOnly))
}

async function followFailover(t: Test, readOnly: string): Promise<void> {
  const operator = open(t, first.url, 'consumer')
  await operator.config('SET', 'replica-read-only', readOnly)
  t.teardown(() => operator.config('SET', 'replica-read-only', 'yes'))
  await promote(t, first)
  const address = await openAddress(t)
  const redis = open(t, address.url, 'producer')
  const poll = pollRedisState({
    redis,
    intervalMs: 10,
    onError: () => {},
  })
  t.teardown(() => poll.close())
  await until('a poll has succeeded', () => poll.state() !== undefined)
  t.equal(poll.state()?.writeRefusal, undefined)
  await promote(t, second)
  await until('it reports the replica', () => poll.state()?.writeRefusal === 'Redis is a replica')
  address.leadTo(second)
  await until('it reports the primary', () => poll.state()?.writeRefusal === undefined)
}

t.test('a writable replica, whose writes the primary overwrites, is refused, too', async (t) => {
  await promote(t, second)
  const redis = open(t, first.url, 'consumer')
  await redis.config('SET', 'replica-read-only', 'no')
  t.equal(await findWriteRefusal(redis), 'Redis is a replica')
  await redis.config('SET', 'replica-read-only', 'yes')
  t.equal(await findWriteRefusal(redis), 'Redis is a replica')
})

t.test('a primary with too few replicas is reported', async (t) => {
  await promote(t, first)
  const redis = open(t, first.url, 'consumer')
  await redis.config('SET', 'min-replicas-to-write', '5')
  t.equal(await findWriteRefusal(redis), 'Redis has fewer replicas than min-replicas-to-write')
  await redis.config('SET', 'min-replicas-to-write', '0')
  t.equal(await findWriteRefusal(redis), undefined)
})

t.test('a changed password is reported as the reason for the missing connection', async (t) => {
  await promote(t, first)
  const url = new URL(first.url)
  url.password = 'before-the-rotation'
  const redis = open(t, url.href, 'producer')
  const check = createConnectionCheck(redis)
  t.equal(check(), 'not connected: no response yet')
  await until('the password is refused', () =>
    Boolean(check()?.startsWith('not connected: WRONGPASS')),
  )
  const operator = open(t, first.url, 'consumer')
  await operator.acl('SETUSER', 'default', '>before-the-rotation')
  await until('it is connected', () => redis.status === 'ready')
  t.equal(check(), undefined)
})
