import { performance } from 'node:perf_hooks'

const windowMs = 100
/** Share of its time that the event loop works; a loop that works all the time is at its limit. */
const busyShare = 0.8

/** @returns tells whether the event loop of this process has lately been near its limit */
export function watchLoopLoad(): () => boolean {
  let begin = performance.eventLoopUtilization()
  let busy = false
  return () => {
    const now = performance.eventLoopUtilization()
    const { active, idle, utilization } = performance.eventLoopUtilization(now, begin)
    if (active + idle >= windowMs) {
      busy = utilization >= busyShare
      begin = now
    }
    return busy
  }
}
