import t, { type Test } from 'tap'
import { connectRedis } from '@intake/redis'
import { systemClock } from '@intake/runtime'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { startQueueShares, type QueueShares } from '../../src/admission/queue-shares.ts'

const server = await ownRedis(t)
const redis = connectRedis({ url: server.url, role: 'consumer', onError: () => {} })
t.teardown(() => redis.disconnect())

const minute = 60_000
const mebibyte = 1024 * 1024

/** Polls fifty times as often as a gateway does. */
const clock = {
  ...systemClock,
  setTimeout: (run: () => void, ms: number) => systemClock.setTimeout(run, ms / 50),
}

/** Empties Redis. Returns what the gateways of a test see; the test changes it. */
const createScene = async () => ({
  flushed: await redis.flushall(),
  nowMs: Date.UTC(2026, 10, 28, 12),
  memoryUsed: 0.6,
  oldestMs: (Date.UTC(2026, 10, 28, 12) - minute) as number | undefined,
  isShared: true,
  /** Whether Redis does not let the gateway read the queue. */
  isDenied: false,
})

function startShares(t: Test, scene: Awaited<ReturnType<typeof createScene>>) {
  let polls = 0
  const errors: unknown[] = []
  const shares = startQueueShares({
    redis,
    state: () => ({ memoryUsed: scene.memoryUsed }),
    oldestWaiting: async () => {
      if (scene.isDenied) throw new Error('NOPERM')
      return scene.oldestMs
    },
    isShared() {
      polls++
      return scene.isShared
    },
    onError: (error) => errors.push(error),
    clock,
    wallMs: () => scene.nowMs,
  })
  t.teardown(shares.close)
  return {
    ...shares,
    errors,
    /** Resolves to the keys that are over after a whole poll. */
    async nextOver() {
      const wanted = polls + 3
      await until('it has polled', () => polls >= wanted)
      return [...shares.over.logs]
    },
  }
}

function add({ unsent }: Pick<QueueShares, 'unsent'>, apiKeyId: string, bytes: number): void {
  unsent.set(apiKeyId, (unsent.get(apiKeyId) ?? 0) + bytes)
}

t.test('the key that holds most is over its share, as counted by all gateways', async (t) => {
  const scene = await createScene()
  const [one, two] = [startShares(t, scene), startShares(t, scene)]
  add(one, 'flood', 200 * mebibyte)
  add(two, 'flood', 200 * mebibyte)
  add(two, 'honest', 10 * mebibyte)
  await until('both know', () => one.over.logs.has('flood') && two.over.logs.has('flood'))
  t.same([[...one.over.logs], [...two.over.logs]], [['flood'], ['flood']])
  const restarted = startShares(t, scene)
  t.same(await restarted.nextOver(), ['flood'], 'a gateway that starts later')
  scene.memoryUsed = 0.5
  t.same(await one.nextOver(), [], 'half of the memory is free for all')
})

t.test('keys that hold the same are over together; one that holds little never is', async (t) => {
  const scene = await createScene()
  const shares = startShares(t, scene)
  for (const key of ['one', 'two', 'three']) add(shares, key, 100 * mebibyte)
  add(shares, 'small', mebibyte)
  t.same(await shares.nextOver(), [])
  scene.memoryUsed = 0.7
  t.same(await shares.nextOver(), ['one', 'two', 'three'])
  scene.memoryUsed = 0.745
  t.same(await shares.nextOver(), ['one', 'two', 'three'])
})

t.test('feedback is refused later than logs, as when the queue is full', async (t) => {
  const scene = await createScene()
  const shares = startShares(t, scene)
  add(shares, 'flood', 90 * mebibyte)
  add(shares, 'honest', 10 * mebibyte)
  scene.memoryUsed = 0.55
  t.same([await shares.nextOver(), [...shares.over.feedback]], [['flood'], []])
  scene.memoryUsed = 0.74
  t.same([await shares.nextOver(), [...shares.over.feedback]], [['flood', 'honest'], ['flood']])
})

t.test('only what may still wait counts', async (t) => {
  const scene = await createScene()
  const shares = startShares(t, scene)
  add(shares, 'flood', 400 * mebibyte)
  t.same(await shares.nextOver(), ['flood'])
  scene.nowMs += 60 * minute
  add(shares, 'other', mebibyte)
  add(shares, 'third', mebibyte)
  t.same(await shares.nextOver(), ['flood'], 'an hour later it still waits')
  scene.oldestMs = scene.nowMs - minute
  t.same(await shares.nextOver(), [], 'its frames are completed')
})

t.test('what was sent before the queue filled does not count', async (t) => {
  const scene = await createScene()
  scene.oldestMs = undefined
  scene.memoryUsed = 0.1
  const shares = startShares(t, scene)
  add(shares, 'honest', 1_000 * mebibyte)
  t.same(await shares.nextOver(), [])
  scene.oldestMs = scene.nowMs - 10_000
  scene.memoryUsed = 0.6
  add(shares, 'flood', 340 * mebibyte)
  add(shares, 'honest', 25 * mebibyte)
  t.same(await shares.nextOver(), ['flood'])
})

t.test('what another gateway adds later to a bucket that was read counts', async (t) => {
  const scene = await createScene()
  scene.memoryUsed = 0.7
  const [one, two] = [startShares(t, scene), startShares(t, scene)]
  add(one, 'small', mebibyte)
  add(one, 'flood', mebibyte)
  t.same(await one.nextOver(), ['small', 'flood'])
  add(two, 'flood', 400 * mebibyte)
  await two.nextOver()
  scene.nowMs += 30 * minute
  t.same(await one.nextOver(), ['flood'])
})

t.test('nobody is over while workers keep up, whatever uses the memory', async (t) => {
  const scene = await createScene()
  const shares = startShares(t, scene)
  add(shares, 'flood', 400 * mebibyte)
  t.same(await shares.nextOver(), ['flood'])
  scene.oldestMs = undefined
  t.same(await shares.nextOver(), [])
  scene.oldestMs = scene.nowMs - 1_000
  t.same(await shares.nextOver(), [])
})

t.test('the only key may use the whole queue', async (t) => {
  const scene = { ...(await createScene()), isShared: false }
  const shares = startShares(t, scene)
  add(shares, 'only', 400 * mebibyte)
  t.same(await shares.nextOver(), [])
})

t.test('a damaged count refuses nobody, and is no error', async (t) => {
  const scene = await createScene()
  await redis.set(`{intake}:queued:${Math.floor(scene.nowMs / (10 * minute))}`, 'garbage')
  const shares = startShares(t, scene)
  add(shares, 'flood', 400 * mebibyte)
  t.same(await shares.nextOver(), [])
  scene.nowMs += 10 * minute
  add(shares, 'flood', 400 * mebibyte)
  t.same(await shares.nextOver(), ['flood'], 'the next count is sound')
  t.same(shares.errors, [])
})

t.test('while a gateway may not read the queue, it refuses nobody, and says so', async (t) => {
  const scene = await createScene()
  const shares = startShares(t, scene)
  add(shares, 'flood', 400 * mebibyte)
  t.same(await shares.nextOver(), ['flood'])
  scene.isDenied = true
  t.same(await shares.nextOver(), [])
  t.match(shares.errors, [{ message: 'NOPERM' }])
})
