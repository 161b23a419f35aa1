import { limits } from '@intake/contract'
import type { RedisState } from '@intake/redis'

export interface CheckedTime {
  nowMs: number
  /** By how much `nowMs` is ahead of the clock of Redis (less than zero: behind), if that is too much. */
  skewMs: number | undefined
  /** The tables would refuse a record of this time, or one in its window, wherever Redis's clock is. */
  isOutOfRange: boolean
}

const { recordTimeMs, eventAgeMs, eventAheadMs } = limits

/**
 * Reads the wall clock of this process and tells whether it is more than `clockSkewMaxMs` from that of
 * Redis, or at a time that no record can have: on one machine both clocks can be wrong together.
 *
 * It compares with Redis's time carried on by the monotonic clock, so that a clock that jumps is
 * noticed at once and without Redis. What the error of the reading leaves open stays as it was: a
 * slow network is no skew, and does not end one.
 *
 * @param options.onChange told when the clock has become wrong, and when it no longer is
 * @param options.now the wall clock, in milliseconds
 * @param options.monotonic the clock that the readings relate to
 */
export function createSkewGauge(options: {
  reading: () => RedisState['clock']
  clockSkewMaxMs: number
  onChange?: (wrong: boolean) => void
  now?: () => number
  monotonic?: () => number
}): () => CheckedTime {
  const { reading, clockSkewMaxMs, monotonic = () => performance.now() } = options
  // Looked up at each call: the clock of the process may be replaced while it runs.
  const now = options.now ?? (() => Date.now())
  let skewed = false
  let wrong = false

  function measureSkew(nowMs: number): number | undefined {
    const clock = reading()
    if (clock === undefined) return undefined
    const skewMs = nowMs - (monotonic() + clock.offsetMs)
    const distanceMs = Math.abs(skewMs)
    const flips = skewed
      ? distanceMs + clock.errorMs <= clockSkewMaxMs
      : distanceMs - clock.errorMs > clockSkewMaxMs
    if (flips) skewed = !skewed
    return skewed ? skewMs : undefined
  }

  return () => {
    const nowMs = now()
    const skewMs = measureSkew(nowMs)
    const isOutOfRange =
      nowMs - eventAgeMs <= recordTimeMs.after || nowMs + eventAheadMs >= recordTimeMs.before
    if (wrong !== (isOutOfRange || skewMs !== undefined)) {
      wrong = !wrong
      options.onChange?.(wrong)
    }
    return { nowMs, skewMs, isOutOfRange }
  }
}
