import t, { type Test } from 'tap'
import { startRedis } from '@intake/local'
import { createSecret } from '@intake/runtime'
import { createDataDir } from '@intake/test-kit/data-dir'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { connectRedis, type Server } from '../src/connect.ts'

const server = await startRedis({ dataDir: createDataDir(t), port: 0 })
t.teardown(() => server.stop())
const owner = openRedis(t, server)

const urlOf = (user: string, password: string) =>
  `redis://${user}:${encodeURIComponent(password)}@127.0.0.1:${server.port}`
const addUser = (name: string, password: string) =>
  owner.acl('SETUSER', name, 'reset', 'on', `>${password}`, '~*', '+@all')
const usersOf = async () =>
  Array.from(String(await owner.client('LIST')).matchAll(/ user=(\S+)/g), ([, user]) => user)

function end(t: Test, ...connections: Server[]) {
  t.teardown(() => connections.forEach((redis) => redis.disconnect()))
}

for (const role of ['producer', 'consumer'] as const) {
  t.test(`a ${role} and its duplicates change the user and no command fails`, async (t) => {
    await addUser('old', 'o/1')
    await addUser('new', 'n%2')
    const url = createSecret(urlOf('old', 'o/1'))
    const onError = (error: Error) => t.fail('an error', { error })
    const redis = connectRedis({ url, role, onError }) as Server
    const blocking = redis.duplicate({ maxRetriesPerRequest: null })
    end(t, redis, blocking)
    await until('they are connected', () =>
      [redis, blocking].every(({ status }) => status === 'ready'),
    )

    const over = new AbortController()
    let commands = 0
    const load = (async () => {
      while (!over.signal.aborted) {
        await Promise.all([redis.incr('a'), redis.incr('a'), redis.incr('a')])
        commands += 3
      }
    })()
    const waiting = blocking.blpop('list', 1)
    url.set(urlOf('new', 'n%2'))
    await until('they have changed', async () => !(await usersOf()).includes('old'))
    t.equal(await waiting, null)
    t.equal(await owner.acl('DELUSER', 'old'), 1)
    const before = commands
    await until('commands follow', () => commands > before)
    over.abort()
    await load

    // Makes the same client open a new connection.
    redis.stream.destroy()
    await until('it is gone', () => redis.status !== 'ready')
    await until('it is connected again', () => redis.status === 'ready')
    t.equal(await redis.call('ACL', 'WHOAMI'), 'new')
  })
}

t.test('a refused password is reported and the connection remains', async (t) => {
  await addUser('old', 'one')
  const url = createSecret(urlOf('old', 'one'))
  const errors: Error[] = []
  const redis = connectRedis({
    url,
    role: 'producer',
    onError: (error) => errors.push(error),
  }) as Server
  end(t, redis)
  await until('it is connected', () => redis.status === 'ready')
  url.set(urlOf('old', 'two'))
  await until('it is reported', () => errors.length === 1)
  t.match(errors[0]?.message, /^WRONGPASS/)
  t.equal(await redis.ping(), 'PONG')
})

t.test('a URL that cannot be read is reported, and changes no option', async (t) => {
  await addUser('old', 'one')
  const url = createSecret(urlOf('old', 'one'))
  const errors: Error[] = []
  const onError = (error: Error) => errors.push(error)
  const redis = connectRedis({ url, role: 'producer', onError }) as Server
  end(t, redis)
  await until('it is connected', () => redis.status === 'ready')
  url.set(`redis://old:50%off@127.0.0.1:${server.port}`)
  t.match(errors, [/percent-encoded/])
  const other = redis.duplicate()
  end(t, other)
  await until('it is connected', () => other.status === 'ready')
  t.equal(await other.call('ACL', 'WHOAMI'), 'old')
})
