import { performance } from 'node:perf_hooks'

const windowMs = 100

/**
 * Measures the share of time in which the event loop of this process works instead of waiting, when it
 * is asked and at most every tenth of a second.
 *
 * @returns the share, 0 to 1, over the latest window that has ended
 */
export function createLoopUtilization(): () => number {
  let windowStart = performance.now()
  let atStart = performance.eventLoopUtilization()
  let share = 0
  return () => {
    const now = performance.now()
    if (now - windowStart >= windowMs) {
      const atEnd = performance.eventLoopUtilization()
      share = performance.eventLoopUtilization(atEnd, atStart).utilization
      windowStart = now
      atStart = atEnd
    }
    return share
  }
}
