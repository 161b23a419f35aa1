import t, { type Test } from 'tap'
import { watchForStandstill } from '../src/watchdog.ts'

/** Resolves to whether a standstill was told within `looks` looks. */
async function standsStill(
  t: Test,
  queue: { waiting: () => Promise<number>; progress: () => { taken: number; inHand: number } },
  looks = 10,
): Promise<boolean> {
  let asked = 0
  return new Promise((resolve) => {
    const watchdog = watchForStandstill({
      waiting: queue.waiting,
      progress: () => {
        if (asked++ === looks) resolve(false)
        return queue.progress()
      },
      limitMs: 5,
      onStandstill: () => resolve(true),
    })
    t.teardown(() => watchdog.close())
  })
}

t.test('tells of frames that wait while nothing is taken and nothing is in hand', async (t) => {
  const progress = () => ({ taken: 3, inHand: 0 })
  t.equal(await standsStill(t, { waiting: async () => 1, progress }), true)
})

t.test('an empty queue, work in hand, progress or an absent Redis is no standstill', async (t) => {
  const idle = () => ({ taken: 3, inHand: 0 })
  let taken = 0
  t.equal(await standsStill(t, { waiting: async () => 0, progress: idle }), false)
  t.equal(
    await standsStill(t, { waiting: async () => 1, progress: () => ({ taken: 3, inHand: 1 }) }),
    false,
  )
  t.equal(
    await standsStill(t, {
      waiting: async () => 1,
      progress: () => ({ taken: taken++, inHand: 0 }),
    }),
    false,
  )
  t.equal(
    await standsStill(t, { waiting: () => Promise.reject(new Error('away')), progress: idle }),
    false,
  )
})
