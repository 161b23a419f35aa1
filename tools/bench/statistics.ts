import { median as middle, quantileSorted } from 'simple-statistics'

export function median(values: readonly number[]): number {
  return values.length === 0 ? NaN : middle([...values])
}

/**
 * Percentiles of values: p50, p99, p99.9 and the maximum, in the unit of the values. They are NaN
 * if there are no values. The p50 of an even number of values is the mean of the middle two.
 */
export interface Percentiles {
  count: number
  p50: number
  p99: number
  p999: number
  max: number
}

/** Computes exact percentiles from all values, not from the buckets of a histogram. */
export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => (sorted.length === 0 ? NaN : quantileSorted(sorted, share))
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), p999: at(0.999), max: at(1) }
}
