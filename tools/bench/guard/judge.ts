import { median } from '../statistics.ts'

/** A figure of this tree must be at most this limit times the same figure of the base. */
export const limit = 1.05

/**
 * The highest accepted probability that a bound is wrong. With fewer than five ratios the
 * probability is always higher.
 */
const errorMax = 0.05

export interface Judgement {
  ratio: number
  /**
   * The true ratio is at least `low` with the probability `confidence`, and at most `high` with the
   * same probability.
   */
  low: number
  high: number
  confidence: number
  verdict: 'ok' | 'beyond' | 'cannot tell'
}

/**
 * Decides whether a figure is beyond its limit, from one ratio per pair of processes. `low` and
 * `high` are the bounds of Wilcoxon's signed-rank test. To find them, the function computes the
 * geometric average of every two ratios, and of each ratio with itself. It drops as many averages
 * at each end as a confidence of 95 % allows. The bounds are the smallest and the largest of the
 * rest. The test assumes only that the logarithms of the ratios are distributed symmetrically. With
 * fewer than five ratios a confidence of 95 % is impossible, so the result is 'cannot tell'.
 */
export function judge(ratios: readonly number[]): Judgement {
  const logs = ratios.map(Math.log)
  const averages = logs
    .flatMap((one, index) => logs.slice(index).map((other) => Math.exp((one + other) / 2)))
    .toSorted((a, b) => a - b)
  const { leftOut, confidence } = boundsOf(ratios.length)
  const low = averages[leftOut] as number
  const high = averages.at(-1 - leftOut) as number
  const verdict = verdictOf({ low, high, confidence })
  return { ratio: median(ratios), low, high, confidence, verdict }
}

function verdictOf({ low, high, confidence }: Omit<Judgement, 'ratio' | 'verdict'>) {
  if (confidence < 1 - errorMax) return 'cannot tell'
  if (low > limit) return 'beyond'
  return high <= limit ? 'ok' : 'cannot tell'
}

/**
 * Returns how many averages to leave out at each end, and the confidence of the bounds that remain.
 */
function boundsOf(count: number): { leftOut: number; confidence: number } {
  const ways = waysToRankSum(count)
  let leftOut = 0
  let error = 1 / 2 ** count
  for (let sum = 1; sum < ways.length; sum++) {
    const next = error + (ways[sum] as number) / 2 ** count
    if (next > errorMax) break
    leftOut = sum
    error = next
  }
  return { leftOut, confidence: 1 - error }
}

/** Counts the subsets of the ranks 1 to `count` by their sum, which is the index of the result. */
function waysToRankSum(count: number): number[] {
  let ways = [1]
  for (let rank = 1; rank <= count; rank++) {
    const without = [...ways, ...Array<number>(rank).fill(0)]
    ways = without.map((number, sum) => number + (ways[sum - rank] ?? 0))
  }
  return ways
}
