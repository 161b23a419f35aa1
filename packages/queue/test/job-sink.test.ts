import { once } from 'node:events'
import t from 'tap'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { createJobSink } from '../src/produce.ts'

const server = await ownRedis(t)

t.test('closing does not wait for a queue that Redis does not let open', async (t) => {
  const redis = openRedis(t, server, 'producer')
  await once(redis, 'ready')
  process.kill(server.pid, 'SIGSTOP')
  t.teardown(() => process.kill(server.pid, 'SIGCONT'))
  // Any command of the sink is sent later than this ping, and so it times out later. If `close`
  // resolves before this ping settles, `close` has not waited for Redis.
  const silence = redis.ping().catch(() => 'silence')
  const sink = createJobSink({ redis, kind: 'logs' })
  t.equal(await Promise.race([sink.close().then(() => 'closed'), silence]), 'closed')
})
