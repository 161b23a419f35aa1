/** The middle value, or the mean of the two in the middle; NaN for no values. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/**
 * The smallest value that at least `share` of the values do not exceed (nearest rank, without
 * interpolation or buckets).
 *
 * @param sorted in ascending order
 * @param share 0.99 for p99
 */
export function percentile(sorted: ArrayLike<number>, share: number): number {
  const rank = Math.ceil(share * sorted.length)
  return sorted[Math.max(rank, 1) - 1] ?? NaN
}

/** p50, p99, p99.9 and the largest of all values, in their unit. */
export interface Percentiles {
  count: number
  p50: number
  p99: number
  p999: number
  max: number
}

export function percentilesOf(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).toSorted()
  return {
    count: sorted.length,
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    p999: percentile(sorted, 0.999),
    max: sorted.at(-1) ?? NaN,
  }
}

/** Slope of the least-squares line through the points: units of `y` per unit of `x`. */
export function slope(points: readonly { x: number; y: number }[]): number {
  const mean = (pick: (point: { x: number; y: number }) => number) =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length
  const meanX = mean(({ x }) => x)
  const meanY = mean(({ y }) => y)
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0)
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0)
  return covariance / variance
}
