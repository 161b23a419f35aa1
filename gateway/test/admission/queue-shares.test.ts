import t, { type Test } from 'tap'
import { systemClock } from '@intake/runtime'
import { openRedis } from '@intake/test-kit/open-redis'
import { ownRedis } from '@intake/test-kit/own-services'
import { until } from '@intake/test-kit/until'
import { startQueueShares } from '../../src/admission/queue-shares.ts'
import { divideBytes } from '../../src/commit/store-frame.ts'
import type { Row } from '../../src/record/row.ts'

const server = await ownRedis(t)
const redis = openRedis(t, server)

const minute = 60_000
const mebibyte = 1024 * 1024

/** Polls fifty times as often as a gateway does. */
const clock = {
  ...systemClock,
  setTimeout: (run: () => void, ms: number) => systemClock.setTimeout(run, ms / 50),
}

const noonMs = Date.UTC(2026, 10, 28, 12)
const scene = {
  nowMs: noonMs,
  memoryUsed: 0.5,
  oldestMs: (noonMs - minute) as number | undefined,
  isShared: true,
  /** Whether Redis does not let the gateway read the queue. */
  isDenied: false,
}

/** Empties Redis. Returns what the gateways of a test see; the test changes it. */
async function createScene(changes: Partial<typeof scene> = {}) {
  await redis.flushall()
  return { ...scene, ...changes }
}

/** Starts a gateway's shares. `add` counts mebibytes of an API key that the gateway stores. */
function startShares(
  t: Test,
  seen: typeof scene,
  added: Record<string, number> = {},
  pollClock = clock,
) {
  let polls = 0
  const errors: unknown[] = []
  const shares = startQueueShares({
    redis,
    redisPoll: {
      state: () => ({ memoryUsed: seen.memoryUsed, memoryBytesMax: 500 * mebibyte }),
      refresh: () => Promise.resolve(),
    },
    oldestQueued: async () => {
      if (seen.isDenied) throw new Error('NOPERM')
      return seen.oldestMs
    },
    isShared() {
      polls++
      return seen.isShared
    },
    onError: (error) => errors.push(error),
    clock: pollClock,
    wallMs: () => seen.nowMs,
  })
  t.teardown(shares.close)
  const add = (apiKeyId: string, mebibytes: number) =>
    shares.unsent.byKey.set(
      apiKeyId,
      (shares.unsent.byKey.get(apiKeyId) ?? 0) + mebibytes * mebibyte,
    )
  for (const [apiKeyId, mebibytes] of Object.entries(added)) add(apiKeyId, mebibytes)
  return {
    ...shares,
    errors,
    add,
    /** Resolves to the keys that are over after a whole poll. */
    async nextOver() {
      const wanted = polls + 3
      await until('it has polled', () => polls >= wanted)
      return [...shares.over.logs]
    },
  }
}

t.test('the key that holds most is over its share, as counted by all gateways', async (t) => {
  const seen = await createScene()
  const one = startShares(t, seen, { flood: 200 })
  const two = startShares(t, seen, { flood: 200, honest: 10 })
  await until('both know', () => one.over.logs.has('flood') && two.over.logs.has('flood'))
  t.same([[...one.over.logs], [...two.over.logs]], [['flood'], ['flood']])
  const restarted = startShares(t, seen)
  t.same(await restarted.nextOver(), ['flood'], 'a gateway that starts later')
  seen.memoryUsed = 0.4
  t.same(await one.nextOver(), [], 'so much of the memory is free for all')
})

t.test('keys that hold the same are over together; one that holds little never is', async (t) => {
  const seen = await createScene()
  const shares = startShares(t, seen, { one: 100, two: 100, three: 100, small: 1 })
  t.same(await shares.nextOver(), [])
  for (seen.memoryUsed of [0.58, 0.745]) t.same(await shares.nextOver(), ['one', 'two', 'three'])
})

t.test('feedback is refused later than logs, as when the queue is full', async (t) => {
  const seen = await createScene({ memoryUsed: 0.45 })
  const shares = startShares(t, seen, { flood: 90, honest: 10 })
  t.same([await shares.nextOver(), [...shares.over.feedback]], [['flood'], []])
  seen.memoryUsed = 0.64
  t.same([await shares.nextOver(), [...shares.over.feedback]], [['flood', 'honest'], ['flood']])
})

t.test('only what may still wait counts', async (t) => {
  const seen = await createScene()
  const shares = startShares(t, seen, { flood: 400 })
  t.same(await shares.nextOver(), ['flood'])
  seen.nowMs += 60 * minute
  for (const key of ['other', 'third']) shares.add(key, 1)
  t.same(await shares.nextOver(), ['flood'], 'an hour later it still waits')
  seen.oldestMs = seen.nowMs - minute
  t.same(await shares.nextOver(), [], 'its frames are completed')
})

for (const [what, oldestMs] of [
  ['the queue was empty', undefined],
  ['workers kept up', noonMs - 300],
] as const) {
  t.test(`what was sent while ${what} does not count`, async (t) => {
    const seen = await createScene({ oldestMs, memoryUsed: 0.1 })
    const shares = startShares(t, seen, { honest: 1_000 })
    t.same(await shares.nextOver(), [])
    Object.assign(seen, { oldestMs: seen.nowMs - 10_000, memoryUsed: 0.6 })
    shares.add('flood', 340)
    shares.add('honest', 25)
    t.same(await shares.nextOver(), ['flood'])
  })
}

t.test('a key that fills memory fast is over before the next poll is due', async (t) => {
  const seen = await createScene({ memoryUsed: 0.1 })
  const never = { ...clock, setTimeout: () => ({}), clearTimeout: () => {} }
  const shares = startShares(t, seen, {}, never)
  await until('the first poll has ended', () => shares.unsent.bytesMax < Infinity)
  const store = (mebibytes: number) => {
    const row = { apiKeyId: 'flood', json: '{}' } as Row
    divideBytes([row], mebibytes * mebibyte, shares.unsent)
  }
  store(9)
  seen.memoryUsed = 0.6
  store(1)
  await until('it is over', () => shares.over.logs.has('flood'))
  t.equal(shares.unsent.bytes, 0)
})

t.test('a key that holds little may use the last part of the queue', async (t) => {
  const seen = await createScene({ memoryUsed: 0.74 })
  const shares = startShares(t, seen, { flood: 400, honest: 5 })
  t.same(await shares.nextOver(), ['flood'])
})

t.test('what another gateway adds later to a bucket that was read counts', async (t) => {
  const seen = await createScene({ memoryUsed: 0.7 })
  const [one, two] = [startShares(t, seen, { small: 1, flood: 1 }), startShares(t, seen)]
  t.same(await one.nextOver(), ['small', 'flood'])
  two.add('flood', 400)
  await two.nextOver()
  seen.nowMs += 30 * minute
  t.same(await one.nextOver(), ['flood'])
})

t.test('nobody is over while workers keep up, whatever uses the memory', async (t) => {
  const seen = await createScene()
  const shares = startShares(t, seen, { flood: 400 })
  t.same(await shares.nextOver(), ['flood'])
  for (seen.oldestMs of [undefined, seen.nowMs - 500]) t.same(await shares.nextOver(), [])
})

t.test('the only key may use the whole queue', async (t) => {
  const shares = startShares(t, await createScene({ isShared: false }), { only: 400 })
  t.same(await shares.nextOver(), [])
})

t.test('a damaged count refuses nobody, and is no error', async (t) => {
  const seen = await createScene()
  await redis.set(`{intake}:queued:${Math.floor(seen.nowMs / (10 * minute))}`, 'garbage')
  const shares = startShares(t, seen, { flood: 400 })
  t.same(await shares.nextOver(), [])
  seen.nowMs += 10 * minute
  shares.add('flood', 400)
  t.same(await shares.nextOver(), ['flood'], 'the next count is sound')
  t.same(shares.errors, [])
})

t.test('while a gateway may not read the queue, it refuses nobody, and says so', async (t) => {
  const seen = await createScene()
  const shares = startShares(t, seen, { flood: 400 })
  t.same(await shares.nextOver(), ['flood'])
  seen.isDenied = true
  t.same(await shares.nextOver(), [])
  t.match(shares.errors, [{ message: 'NOPERM' }])
})
