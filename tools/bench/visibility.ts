import { setTimeout as pause } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import type { Demand } from './load/main.ts'
import { measureRound } from './measure.ts'
import { percentilesOf, type Percentiles } from './statistics.ts'
import type { Variant } from './variants.ts'
import { rowsInserted } from './visible.ts'

/** How many rows were readable at a moment. */
interface RowsSample {
  /** Milliseconds since 1970. */
  at: number
  rows: number
}

const sampleMs = 20

/**
 * Measures, for each n, the milliseconds from the n-th acknowledgement to the first moment when n
 * rows were readable. Both times are from the clock of this machine.
 */
export async function measureVisibility(
  bench: Bench,
  variant: Variant,
  demand: Demand,
): Promise<Percentiles> {
  const { database } = variant
  if (database === undefined) throw new Error(`${variant.name} stores nothing`)
  const samples: RowsSample[] = []
  const done = new AbortController()
  const sample = async () => {
    while (!done.signal.aborted) {
      const rows = await rowsInserted(bench.services.sql, `${database}.logs_raw`)
      samples.push({ at: Date.now(), rows })
      await pause(sampleMs)
    }
  }
  const measure = () =>
    measureRound(bench, variant, { ...demand, keepAckTimes: true }).finally(() => done.abort())
  const [round] = await Promise.all([measure(), sample()])
  return percentilesOf(visibleAfter(round.load.ackTimes, samples))
}

/**
 * For each n, the milliseconds from the n-th acknowledgement until n rows were readable.
 *
 * @param ackTimes in milliseconds since 1970, ascending
 */
function visibleAfter(ackTimes: readonly number[], samples: readonly RowsSample[]): number[] {
  let sample = 0
  return ackTimes.map((ackTime, index) => {
    while ((samples[sample]?.rows ?? Infinity) <= index) sample++
    return (samples[sample]?.at ?? NaN) - ackTime
  })
}
