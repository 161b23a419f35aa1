import t from 'tap'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import type { RedisServer } from '@intake/test-kit/redis-server'
import { until } from '@intake/test-kit/until'
import {
  claimInstallation,
  connectRedis,
  mainTag,
  pollRedisState,
  type Redis,
} from '../src/index.ts'

const onError = () => {}
const tags = Array.from({ length: 16 }, (_, index) => `{intake:${index}}`)
const cluster = await startRedisCluster({
  dataDir: createDataDir(t),
  replicas: 0,
  config: ['cluster-require-full-coverage no'],
})
t.teardown(() => cluster.close())

function connect(url: string, role: 'producer' | 'consumer'): Redis {
  const redis = connectRedis({ url, role, onError })
  t.teardown(() => redis.disconnect())
  return redis
}

const redis = connect(cluster.url, 'producer')
const operators = new Map(
  cluster.servers.map((server) => [server, connect(server.url, 'consumer')]),
)
const operate = (server: RedisServer, ...args: [string, ...(string | number)[]]) =>
  operators.get(server)!.call(...args)
const main = await cluster.primaryOf(mainTag)
await until('it is an installation', () =>
  claimInstallation(redis, 'one').then(
    () => true,
    () => false,
  ),
)
const poll = pollRedisState({ redis, tags, intervalMs: 100, onError })
t.teardown(() => poll.close())
await until('the state is known', () => poll.state() !== undefined)
const primaries = await Promise.all(tags.map((tag) => cluster.primaryOf(tag)))
const other = primaries.find((primary) => primary !== main)!
const [moved, kept] = tags.filter((_, index) => primaries[index] === other)

t.test('while the server of {intake} is frozen, the others count as usable', async (t) => {
  main.process.freeze()
  await until(
    'it has been silent for longer than the others may be',
    () => poll.silentMs() > 12_000,
  )
  // On a busy machine the other servers may lose contact with each other for a moment. Redis then
  // reports this, and they do not count as usable.
  await until('the others count as usable', () => poll.refusalOf(kept!) === undefined)
  t.ok(poll.silentMs() > 12_000)
  main.process.thaw()
  await until('it responds', () => poll.silentMs() < 1_000)
})

t.test('a server is judged by its own state when a slot has moved', async (t) => {
  const slot = (await operate(main, 'CLUSTER', 'KEYSLOT', moved!)) as number
  const id = (await operate(main, 'CLUSTER', 'MYID')) as string
  for (const server of [main, ...cluster.servers]) {
    await operate(server, 'CLUSTER', 'SETSLOT', slot, 'NODE', id)
  }
  await operate(other, 'CONFIG', 'SET', 'appendfsync', 'everysec')
  const violation = `Redis 127.0.0.1:${other.port} has appendfsync everysec, not always`
  await until('its settings are known', () =>
    poll.state()!.durabilityViolations.includes(violation),
  )
  await operate(other, 'CONFIG', 'SET', 'min-replicas-to-write', 1)
  await until('it is known that it refuses writes', () => poll.refusalOf(kept!) !== undefined)
  t.same(poll.unusableServers(), [
    `127.0.0.1:${other.port}: Redis has fewer replicas than min-replicas-to-write`,
  ])
  await until('the moved slot is judged by its new server', () => {
    return poll.refusalOf(moved!) === undefined
  })
})
