import t from 'tap'
import { claimInstallation } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { openRedis } from '@intake/test-kit/open-redis'
import { createQueuedFrames, createBacklogReader } from '../src/index.ts'
import { createQueuePause } from '../src/consume.ts'
import { openSink, openSource } from './open-queue.ts'

const redis = openRedis(t, await ownRedis(t))
await claimInstallation(redis, 'test')
const { pause, resume } = createQueuePause({ redis })
const readBacklogs = createBacklogReader({ redis })

t.test('nothing is claimed from a paused queue, and frames are still added', async (t) => {
  const sink = openSink(t, redis)
  const source = openSource(t, redis)
  const ids = ['a-1', 'a-2', 'a-3']
  for (const id of ids.slice(0, 2)) await sink.add(id, {})
  const claimed = await source.claim()

  await pause(['logs'])
  await pause(['logs'])
  await sink.add(ids[2]!, {})
  const { logs, feedback } = (await readBacklogs())!.queues
  t.match(logs, { isPaused: true, waiting: 2, active: 1 })
  t.match(feedback, { isPaused: false })
  t.same(await source.peek(), { count: 0, oldest: undefined })
  t.equal(await source.claim(), undefined)
  t.equal(await source.complete(claimed!, { claimNext: true }), undefined)
  const frames = await createQueuedFrames({ redis, kind: 'logs' }).list()
  t.same(
    frames.map(({ id, isClaimed }) => [id, isClaimed]),
    [
      ['a-3', false],
      ['a-2', false],
    ],
  )

  await resume(['logs'])
  t.same(await source.peek(), { count: 2, oldest: 'a-2' })
  t.equal((await source.claim())?.id, 'a-2')
  t.match((await readBacklogs())?.queues.logs, { isPaused: false, waiting: 1, active: 1 })
})

t.test('a pause that Redis refuses leaves nothing on the connection', async (t) => {
  const listeners = () => redis.listenerCount('error')
  const before = listeners()
  await redis.config('SET', 'maxmemory', '1')
  t.teardown(() => redis.config('SET', 'maxmemory', '0'))
  await t.rejects(pause(['feedback']), /OOM/)
  t.equal(listeners(), before)
})
