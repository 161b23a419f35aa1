import type { RedisState } from '@intake/redis'

/**
 * Tells by how much the wall clock of this process is ahead of that of Redis (less than zero: behind)
 * while that is more than `clockSkewMaxMs`; else undefined.
 *
 * It compares with Redis's time carried on by the monotonic clock, so that a clock that jumps is
 * noticed at once and without Redis. What the error of the reading leaves open stays as it was: a
 * slow network is no skew, and does not end one.
 *
 * @param options.onChange told when the clocks have got too far apart, and when they no longer are
 * @param options.now the wall clock, in milliseconds
 * @param options.monotonic the clock that the readings relate to
 */
export function createSkewGauge(options: {
  reading: () => RedisState['clock']
  clockSkewMaxMs: number
  onChange?: (skewed: boolean) => void
  now?: () => number
  monotonic?: () => number
}): () => number | undefined {
  const { reading, clockSkewMaxMs, monotonic = () => performance.now() } = options
  // Looked up at each call: the clock of the process may be replaced while it runs.
  const now = options.now ?? (() => Date.now())
  let skewed = false

  return () => {
    const clock = reading()
    if (clock === undefined) return undefined
    const skewMs = now() - (monotonic() + clock.offsetMs)
    const distanceMs = Math.abs(skewMs)
    const flips = skewed
      ? distanceMs + clock.errorMs <= clockSkewMaxMs
      : distanceMs - clock.errorMs > clockSkewMaxMs
    if (flips) {
      skewed = !skewed
      options.onChange?.(skewed)
    }
    return skewed ? skewMs : undefined
  }
}
