import t, { type Test } from 'tap'
import { claimInstallation } from '@intake/redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { createTestClock } from '@intake/test-kit/test-clock'
import { until } from '@intake/test-kit/until'
import { openRedis } from '@intake/test-kit/open-redis'
import { createDeliverySink, markDeliveries, startDeliveries } from '../src/consume.ts'

const server = await ownRedis(t)

/** Creates a queue that has started one delivery, which never ends by itself. */
async function startEndless(t: Test, { isAbortable }: { isAbortable: boolean }) {
  const redis = openRedis(t, server)
  await redis.flushall()
  const errors: string[] = []
  let begun = 0
  const hook = { name: 'hook', retryDelaysMs: [1] }
  await redis.hset('{intake}:hook:meta', 'wanted', 1)
  const queue = startDeliveries({
    redis,
    queue: hook,
    atOnce: 4,
    onFailed: () => t.fail('a delivery has failed'),
    onError: ({ message }) => void errors.push(message),
    deliver: (_id, { signal }) =>
      new Promise((_, reject) => {
        begun++
        if (isAbortable) signal.addEventListener('abort', () => reject(signal.reason as Error))
      }),
  })
  const sink = createDeliverySink({ redis, queue: hook, onError: () => {} })
  await sink.add([{ id: 'a', sender: 's' }])
  await sink.close()
  await until('it delivers', () => begun === 1)
  return { redis, queue, errors }
}

t.test('closing does not wait for a delivery that ignores its signal', async (t) => {
  const { redis, queue } = await startEndless(t, { isAbortable: false })
  await queue.close()
  await until('it is returned', async () => (await redis.llen('{intake}:hook:wait')) === 1)
  t.equal(await redis.hget('{intake}:hook:a.s', 'atm'), null, 'no attempt is used up')
})

t.test('closing ends although Redis does not respond, which is reported', async (t) => {
  const { queue, errors } = await startEndless(t, { isAbortable: true })
  process.kill(server.pid, 'SIGSTOP')
  t.teardown(() => process.kill(server.pid, 'SIGCONT'))
  await queue.close()
  t.ok(errors.includes('returning a delivery took longer than 1000 ms'), errors.join())
})

t.test('the only attempt of a delivery is its last', async (t) => {
  const redis = openRedis(t, server)
  await redis.flushall()
  await redis.hset('{intake}:hook:meta', 'wanted', 1)
  const failures: object[] = []
  const queue = startDeliveries({
    redis,
    queue: { name: 'hook', retryDelaysMs: [60_000] },
    atOnce: 1,
    onFailed: (failure) => void failures.push(failure),
    onError: () => {},
    deliver: () => Promise.reject(new Error('refused')),
  })
  t.teardown(() => queue.close())
  const once = { name: 'hook', retryDelaysMs: [] }
  const sink = createDeliverySink({ redis, queue: once, onError: () => {} })
  await sink.add([{ id: 'a', sender: 's' }])
  await sink.close()
  await until('it fails', () => failures.length > 0)
  t.match(failures, [{ id: 'a', attempt: 1, isLast: true }])
})

t.test('a process that wants no deliveries ends those of no other', async (t) => {
  const redis = openRedis(t, server)
  await redis.flushall()
  await claimInstallation(redis, 'test')
  const key = '{intake}:hook:meta'
  const clock = createTestClock()
  const mark = (isWanted: boolean) => {
    const queue = { name: 'hook', retryDelaysMs: [] }
    const onError = (error: unknown) => t.error(error)
    const marking = markDeliveries({ redis, queue, isWanted, onError, ...(!isWanted && { clock }) })
    t.teardown(() => marking.close())
  }
  await redis.hset(key, 'wanted', 1)
  mark(false)
  await until('none are wanted', async () => (await redis.exists(key)) === 0)
  mark(true)
  await until('they are', async () => (await redis.exists(key)) === 1)
  for (let n = 0; n < 5; n++) {
    await clock.advance(60_000)
    await redis.ping()
    t.equal(await redis.exists(key), 1)
  }
})

t.test('Node does not warn of a leak while many deliveries are in progress', async (t) => {
  const redis = openRedis(t, server)
  await redis.flushall()
  await redis.hset('{intake}:hook:meta', 'wanted', 1)
  const warnings: Error[] = []
  const onWarning = (warning: Error) => void warnings.push(warning)
  process.on('warning', onWarning)
  t.teardown(() => process.off('warning', onWarning))
  const hook = { name: 'hook', retryDelaysMs: [] }
  let begun = 0
  const queue = startDeliveries({
    redis,
    queue: hook,
    atOnce: 12,
    onFailed: () => t.fail('a delivery has failed'),
    onError: (error) => t.error(error),
    deliver: () => (begun++, new Promise(() => {})),
  })
  t.teardown(() => queue.close())
  const sink = createDeliverySink({ redis, queue: hook, onError: () => {} })
  await sink.add(Array.from({ length: 12 }, (_, index) => ({ id: `id${index}`, sender: 's' })))
  await sink.close()
  await until('all are in progress', () => begun === 12)
  t.same(warnings, [])
})
