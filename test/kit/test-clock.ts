import { setImmediate as turnOfTheLoop } from 'node:timers/promises'
import type { Clock } from '@intake/runtime'

/** A clock that advances only when the test moves it. */
export interface TestClock extends Clock {
  /**
   * Runs the timers of the next `ms` milliseconds in order. After each timer, waits until all work
   * that the timer started has finished or waits for another timer.
   */
  advance(ms: number): Promise<void>
  /** Runs timers until none is pending. */
  runAll(): Promise<void>
  /** Milliseconds until each pending timer, in order. */
  pending(): number[]
}

interface Pending {
  at: number
  run: () => void
}

export function createTestClock(): TestClock {
  let now = 0
  const timers = new Set<Pending>()
  const inOrder = () => [...timers].toSorted((a, b) => a.at - b.at)

  /** Resolves when all work has finished or waits for a timer. */
  async function settle(): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await turnOfTheLoop()
  }

  async function runUntil(end: number): Promise<void> {
    await settle()
    for (let [next] = inOrder(); next !== undefined && next.at <= end; [next] = inOrder()) {
      timers.delete(next)
      now = next.at
      next.run()
      await settle()
    }
  }

  return {
    now: () => now,
    setTimeout(run, ms) {
      const timer = { at: now + ms, run }
      timers.add(timer)
      return timer
    },
    clearTimeout: (timer) => void timers.delete(timer as Pending),
    setImmediate: (run) => void setImmediate(run),
    random: () => 0.5,
    async advance(ms) {
      const end = now + ms
      await runUntil(end)
      now = end
    },
    runAll: () => runUntil(Infinity),
    pending: () => inOrder().map(({ at }) => at - now),
  }
}
