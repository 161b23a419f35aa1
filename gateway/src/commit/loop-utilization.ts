import { systemClock, type Clock } from '@intake/runtime'

const windowMs = 100

/**
 * Measures the share of time, 0 to 1, in which the event loop of this process is busy. Waiting for
 * a CPU counts as busy.
 *
 * @returns a function that gives the share over the latest window, and 0 before the first window
 * has ended; a window ends at the first call after a tenth of a second
 */
export function createLoopUtilization(clock: Pick<Clock, 'now'> = systemClock): () => number {
  let start = { at: clock.now(), activeMs: activeMs() }
  let share = 0
  return () => {
    const at = clock.now()
    if (at - start.at >= windowMs) {
      const end = { at, activeMs: activeMs() }
      // At most 1, because the process may wait for a CPU between the two readings.
      share = Math.min(1, (end.activeMs - start.activeMs) / (end.at - start.at))
      start = end
    }
    return share
  }
}

const activeMs = () => performance.eventLoopUtilization().active
