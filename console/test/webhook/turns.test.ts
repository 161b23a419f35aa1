import t, { type Test } from 'tap'
import type { PostponedDelivery } from '@intake/queue/consume'
import { createTestClock } from '@intake/test-kit/test-clock'
import { createTurns, requestsMax } from '../../src/webhook/turns.ts'

function start(t: Test) {
  const clock = createTestClock()
  const turns = createTurns(clock)
  const running = new Map<string, () => void>()
  t.teardown(() => running.forEach((end) => end()))
  return {
    clock,
    /** Starts a request; resolves with undefined, or the milliseconds by which it is postponed. */
    async send(name: string): Promise<number | undefined> {
      const sender = name.split(' ')[0]!
      const taken = new Promise<void>((resolve, reject) => {
        turns
          .take(sender, () => {
            resolve()
            return new Promise<void>((end) => void running.set(name, end))
          })
          .catch(reject)
      })
      return taken.then(
        () => undefined,
        (error: PostponedDelivery) => error.delayMs,
      )
    },
    async end(name: string) {
      running.get(name)?.()
      running.delete(name)
      await clock.advance(0)
    },
  }
}

t.test('a sender alone has all turns; what waits is distributed over the time', async (t) => {
  const { send, end, clock } = start(t)
  for (let n = 0; n < requestsMax; n++) t.equal(await send(`shop ${n}`), undefined)
  await clock.advance(2_000)
  await end('shop 0')
  t.equal(await send('shop 0'), undefined)
  // A request takes two seconds, so four of them end every two seconds.
  t.same([await send('shop 5'), await send('shop 6'), await send('shop 7')], [500, 1_000, 1_500])
  await clock.advance(1_000)
  t.equal(await send('shop 8'), 1_000, 'after those that wait')
  await end('shop 1')
  t.equal(await send('shop 1'), undefined, 'its own do not keep it from a turn')
  const postponed = await Promise.all(Array.from({ length: 1_500 }, () => send('shop 9')))
  t.ok(Math.max(...postponed.map(Number)) < 5 * 60_000, 'none waits for longer')
})

t.test('who has many requests leaves a turn to a sender that waits', async (t) => {
  const { send, end, clock } = start(t)
  for (let n = 0; n < requestsMax; n++) await send(`loud ${n}`)
  t.equal(await send('quiet 1'), 25, 'all turns are taken')
  await clock.advance(20)
  await end('loud 0')
  t.ok(await send('loud 4'), 'the free one is not for the loud sender')
  t.equal(await send('quiet 1'), undefined)
  await end('quiet 1')
  await clock.advance(60_000)
  t.equal(await send('loud 4'), undefined, 'once nobody else waits it has all again')
})
