import { limits } from '@intake/contract'
import type { RedisState } from '@intake/redis'
import { systemClock, type Clock } from '@intake/runtime'

export interface CheckedTime {
  nowMs: number
  /**
   * How far `nowMs` is ahead of Redis's clock (negative: behind); undefined while the difference is
   * within the limit, or Redis's clock is unknown.
   */
  skewMs: number | undefined
  /**
   * Whether the tables would reject a record with the time `nowMs`, or with the earliest or latest
   * time that a client may give a record now. Redis's clock is not used for this, because it can be
   * wrong by the same amount as `nowMs`.
   */
  isOutOfRange: boolean
}

const { recordTimeMs, eventAgeMs, eventAheadMs } = limits

/**
 * Reads the wall clock of this process and checks two things: whether it differs from Redis's clock
 * by more than `clockSkewMaxMs`, and whether it shows a time that no record can have. The second
 * check is for a machine on which the gateway's clock and Redis's are wrong by the same amount.
 *
 * To compare the wall clock with Redis's clock, the last known time of Redis is advanced by the
 * monotonic clock. So a jump of the wall clock is noticed at once, without asking Redis. When the
 * measurement is too inexact to decide, the previous result is kept, so that a slow network does
 * not change the result.
 *
 * @param options.wallMs the gateway's clock, in milliseconds since 1970
 * @param options.clock the monotonic clock to which the reading of Redis's clock refers
 */
export function createSkewGauge(options: {
  state: () => Pick<RedisState, 'clock'> | undefined
  clockSkewMaxMs: number
  wallMs?: () => number
  clock?: Pick<Clock, 'now'>
}): () => CheckedTime {
  const { state, clockSkewMaxMs, clock = systemClock } = options
  // `Date.now` is looked up at each call, because a test may replace it while the process runs.
  const wallMs = options.wallMs ?? (() => Date.now())
  let isSkewed = false

  return () => {
    const nowMs = wallMs()
    const isOutOfRange =
      nowMs - eventAgeMs <= recordTimeMs.after || nowMs + eventAheadMs >= recordTimeMs.before
    const reading = state()?.clock
    if (reading === undefined) return { nowMs, skewMs: undefined, isOutOfRange }
    const skewMs = nowMs - (clock.now() + reading.offsetMs)
    const distanceMs = Math.abs(skewMs)
    const flips = isSkewed
      ? distanceMs + reading.errorMs <= clockSkewMaxMs
      : distanceMs - reading.errorMs > clockSkewMaxMs
    if (flips) isSkewed = !isSkewed
    return { nowMs, skewMs: isSkewed ? skewMs : undefined, isOutOfRange }
  }
}
