import t from 'tap'
import { startPolling, type Clock } from '@intake/runtime'

/** Records the pauses, and ends each one when told to. */
function createClock() {
  const pauses: number[] = []
  let end = () => {}
  const clock: Clock = {
    now: () => 0,
    setTimeout(run, ms) {
      pauses.push(ms)
      end = run
      return {}
    },
    clearTimeout() {},
    setImmediate: (run) => void setImmediate(run),
    random: () => 0,
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    clock,
    pauses,
    async endPause() {
      end()
      await turn()
    },
    turn,
  }
}

t.test('intervals double from 100 ms until the first success, errors are reported', async (t) => {
  const { clock, pauses, endPause, turn } = createClock()
  const errors: unknown[] = []
  let fails = true
  const polling = startPolling({
    poll: async () => {
      if (fails) throw new Error('down')
    },
    intervalMs: 1_000,
    onError: (error) => errors.push(error),
    clock,
  })
  await turn()
  for (let n = 0; n < 5; n++) await endPause()
  t.same(pauses, [100, 200, 400, 800, 1_000, 1_000])
  t.equal(errors.length, 6)
  fails = false
  await endPause()
  fails = true
  await endPause()
  t.same(pauses.slice(6), [1_000, 1_000], 'after a success a failure changes nothing')
  polling.close()
})

t.test('polls at once on request, and never after close', async (t) => {
  const { clock, turn } = createClock()
  let polls = 0
  const errors: unknown[] = []
  const polling = startPolling({
    poll: async () => {
      polls++
      throw new Error('down')
    },
    intervalMs: 1_000,
    onError: (error) => errors.push(error),
    clock,
  })
  await turn()
  polling.pollNow()
  await turn()
  t.equal(polls, 2)
  polling.close()
  await turn()
  t.equal(polls, 2)
  t.equal(errors.length, 2)
})
