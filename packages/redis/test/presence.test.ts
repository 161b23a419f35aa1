import t from 'tap'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { until } from '@intake/test-kit/until'
import {
  claimInstallation,
  readPresence,
  readReports,
  readSharedSettings,
  startPresence,
  type RedisRole,
  type ReportingService,
} from '../src/index.ts'

const server = await ownRedis(t)
const connect = async (role: RedisRole) => {
  const redis = openRedis(t, server, role)
  await until('it is connected', () => redis.status === 'ready')
  return redis
}
const redis = await connect('producer')
const reader = await connect('consumer')
const read = () => readPresence(reader)
const failures: unknown[] = []
const settings = { S3_BUCKET: '1' }
const onError = (error: unknown) => void failures.push(error)

t.test('nothing is written to a Redis that has lost its data', async (t) => {
  const presence = startPresence({ redis, service: 'gateway', settings, onError })
  await redis.ping()
  t.same(await redis.keys('*'), [])
  await presence.close()
})

t.test('processes that run are counted, and one that ends in order is forgotten', async (t) => {
  await claimInstallation(redis, 'an installation')
  const start = (service: ReportingService, url?: string) =>
    startPresence({ redis, service, settings, onError, ...(url !== undefined && { url }) })
  const url = 'https://in.example.com/api'
  const [first, second, worker] = [start('gateway'), start('gateway', url), start('worker')]
  await until('all report', async () => {
    const { gateway, worker: workers } = await read()
    return gateway.reporting === 2 && workers.reporting === 1
  })
  await first.close()
  t.match(await read(), {
    gateway: { reporting: 1, stopped: 0, urls: [url] },
    worker: { reporting: 1, urls: [] },
  })
  await Promise.all([second.close(), worker.close()])
  t.match(await read(), { gateway: { reporting: 0, stopped: 0 }, worker: { reporting: 0 } })
})

t.test('one that is silent has stopped, and is shown for an hour', async (t) => {
  const ago = (seconds: number) => Date.now() - seconds * 1_000
  const killedAt = ago(60)
  await redis.zadd('{intake}:processes', ago(2), 'gateway:a', killedAt, 'gateway:b')
  await redis.zadd('{intake}:processes', ago(3_700), 'gateway:c', ago(5), 'worker:d')
  await redis.zadd('{intake}:processes', ago(-3_600), 'worker:e')
  t.same(await read(), {
    gateway: { reporting: 1, stopped: 1, stoppedAtMs: killedAt, urls: [] },
    worker: { reporting: 1, stopped: 0, stoppedAtMs: undefined, urls: [] },
  })
  const presence = startPresence({ redis, service: 'worker', settings, onError })
  await until(
    'a report removes old ones',
    async () => (await redis.zcard('{intake}:processes')) === 6,
  )
  t.equal(await redis.zscore('{intake}:processes', 'gateway:c'), null)
  await presence.close()
  t.same(failures, [])
})

t.test('each service has each version of its settings once, until a silence', async (t) => {
  await redis.del('{intake}:processes')
  const start = (service: ReportingService | 'console', bucket: string) =>
    startPresence({ redis, service, settings: { S3_BUCKET: bucket }, onError })
  const started = [start('gateway', '1'), start('gateway', '1'), start('gateway', '2')]
  started.push(start('console', '1'))
  const stoppedAt = Date.now() - 31_000
  await redis.zadd('{intake}:processes', stoppedAt, 'settings:worker {"S3_BUCKET":"3"}')
  await until('all report', async () => (await redis.zcard('{intake}:processes')) === 8)
  const known = (await readSharedSettings(reader)).map(({ service, digests }) =>
    [service, digests['S3_BUCKET']].join(' '),
  )
  t.same(known.toSorted(), ['console 1', 'gateway 1', 'gateway 2'])
  t.match(await read(), { gateway: { reporting: 3 }, worker: { reporting: 0, stopped: 0 } })
  await Promise.all(started.map((one) => one.close()))
  t.same(await readSharedSettings(reader), [])
})

t.test('settings that are damaged are left out', async (t) => {
  await redis.del('{intake}:processes')
  await redis.zadd('{intake}:processes', Date.now(), 'settings:worker {"S3_BUC')
  await redis.zadd('{intake}:processes', Date.now(), 'settings:gateway {"S3_BUCKET":"1"}')
  t.same(await readSharedSettings(reader), [{ service: 'gateway', digests: { S3_BUCKET: '1' } }])
})

t.test('a worker is read with its latest text only, until it ends or is silent', async (t) => {
  await redis.del('{intake}:processes')
  await redis.zadd('{intake}:processes', Date.now() - 16_000, 'report:a of a killed one')
  await redis.zadd('{intake}:processes', Date.now() + 3_600_000, 'report:b of a clock ahead')
  await redis.zadd('{intake}:processes', Date.now() - 5_000, 'report:c not replaced')
  await redis.zadd('{intake}:processes', Date.now() - 1_000, 'report:c its latest')
  t.same(await readReports(reader), ['its latest'])
  await redis.zrem('{intake}:processes', 'report:c not replaced', 'report:c its latest')
  let text = 'first line\nsecond'
  const report = () => text
  const start = () => startPresence({ redis, service: 'worker', settings, report, onError })
  const first = start()
  await until('it is told', async () => (await readReports(reader)).includes(text))
  text = 'other'
  const second = start()
  await until('its text has changed', async () => {
    const known = await readReports(reader)
    return known.length === 2 && known.every((one) => one === 'other')
  })
  await Promise.all([first.close(), second.close()])
  t.same(await readReports(reader), [])
})
