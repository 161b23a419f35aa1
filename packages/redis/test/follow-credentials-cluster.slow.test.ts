import t from 'tap'
import type { Cluster } from 'ioredis'
import { createSecret } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { startRedisCluster } from '@intake/test-kit/redis-cluster'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { connectRedis } from '../src/index.ts'

t.test('a connection to a cluster changes the user on every node', async (t) => {
  const servers = await startRedisCluster({ dataDir: createDataDir(t), replicas: 0 })
  t.teardown(() => servers.close())
  const owner = openRedis(t, servers)
  await until('it is connected', () => owner.status === 'ready')
  const onEachNode = <Result>(
    run: (node: ReturnType<Cluster['nodes']>[number]) => Promise<Result>,
  ) => Promise.all((owner as Cluster).nodes('master').map(run))
  for (const user of ['old', 'new']) {
    await onEachNode((node) => node.acl('SETUSER', user, 'on', `>${user}/1`, '~*', '+@all'))
  }

  const urlOf = (user: string) => servers.url.replace(/:\/\/[^@]*@/, `://${user}:${user}%2F1@`)
  const url = createSecret(urlOf('old'))
  const errors: Error[] = []
  const onError = (error: Error) => errors.push(error)
  const redis = connectRedis({ url, role: 'consumer', onError }) as Cluster
  t.teardown(() => redis.disconnect())
  const keys = Array.from({ length: 50 }, (_, n) => `key-${n}`)
  const writeEverywhere = () => Promise.all(keys.map((key) => redis.set(key, '1')))
  await writeEverywhere()

  url.set(urlOf('new'))
  const usersOf = async () => (await onEachNode((node) => node.client('LIST'))).join('')
  await until('it has changed', async () => !(await usersOf()).includes(' user=old '))
  await onEachNode((node) => node.acl('DELUSER', 'old'))
  await writeEverywhere()

  // Makes the client connect to all servers again.
  for (const node of redis.nodes('all')) node.disconnect(true)
  await until('they are connected again', () => redis.status === 'ready')
  await writeEverywhere()
  const other = redis.duplicate()
  t.teardown(() => other.disconnect())
  t.equal(await other.get('key-0'), '1')
  t.match(await usersOf(), ' user=new ')

  // Sets a URL that cannot be parsed. The cluster's event handlers must not throw.
  errors.length = 0
  url.set(urlOf('new').replace('%2F1@', '50%off@'))
  t.match(errors[0], /percent-encoded/)
  const before = errors.length
  redis.emit('+node', redis.nodes('all')[0]!)
  t.equal(errors.length, before + 1)
  for (const node of redis.nodes('all')) node.disconnect(true)
  await until('they are connected again', () => redis.status === 'ready')
  await writeEverywhere()

  // If the URL has no user, the options of later connections must have none either.
  url.set(servers.url.replace(/:\/\/[^@]*@/, '://'))
  const { username, password } = redis.options.redisOptions ?? {}
  t.same([username, password], [undefined, undefined])
})
