import { median as middle, quantileSorted } from 'simple-statistics'

export function median(values: readonly number[]): number {
  return values.length === 0 ? NaN : middle([...values])
}

/**
 * Percentiles of values, in their unit. They are NaN if there are no values. The p50 of an even
 * number of values is the mean of the middle two.
 */
export interface Percentiles {
  p50: number
  p99: number
  p999: number
}

/** Computes exact percentiles from all values, not from the buckets of a histogram. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted.length === 0 ? NaN : quantileSorted(sorted, share))
  return { p50: at(0.5), p99: at(0.99), p999: at(0.999) }
}
