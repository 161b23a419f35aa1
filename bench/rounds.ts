/** Forwards and backwards in turn (ABC CBA ABC …), so that a drift of the machine meets all alike. */
export function abbaOrder<T>(variants: readonly T[], rounds: number): T[] {
  return Array.from({ length: rounds }, (_, round) =>
    round % 2 === 0 ? variants : variants.toReversed(),
  ).flat()
}

/** What a measurement must tell so that it can be discarded. */
export interface Disturbance {
  /** Share of all processors that others used meanwhile, from 0 to 1. */
  foreignShare: number
}

/** How much a round may be disturbed and still count. */
export interface DisturbanceLimits {
  /** Share of all processors that others may use meanwhile, from 0 to 1. */
  foreignShareMax: number
  /** How much slower than at its fastest the machine may be before or after it (yardstick.ts). */
  slownessMax: number
}

export interface RoundsLog {
  discarded: number
  /** Rounds that were disturbed and are counted all the same. */
  keptDisturbed: number
  /** How much slower than at its fastest the machine was, for each round that counts. */
  slowness: number[]
}

/** Measures, and when the round was disturbed measures again. */
export type MeasureUndisturbed = <M extends Disturbance>(measure: () => Promise<M>) => Promise<M>

/** So that a run ends in time on a machine that is never quiet. */
const repetitionsMax = 2

/**
 * @param options.slowness how much slower than at its fastest the machine is now
 * @param options.log of the whole run
 * @returns a function that has two repetitions for all its rounds together; when they are used up, the
 * least disturbed try of a round counts
 */
export function createRoundRepeater(
  options: DisturbanceLimits & { slowness: () => number; log: RoundsLog },
): MeasureUndisturbed {
  const { foreignShareMax, slownessMax, slowness, log } = options
  let repetitions = 0
  return async <M extends Disturbance>(measure: () => Promise<M>): Promise<M> => {
    let best: { measured: M; disturbance: number; slowest: number } | undefined
    for (;;) {
      const slownessBefore = slowness()
      const measured = await measure()
      const slowest = Math.max(slownessBefore, slowness())
      // Above 1, one of the limits is exceeded.
      const disturbance = Math.max(
        measured.foreignShare / foreignShareMax,
        (slowest - 1) / (slownessMax - 1),
      )
      if (best === undefined || disturbance < best.disturbance) {
        best = { measured, disturbance, slowest }
      }
      if (best.disturbance <= 1 || repetitions === repetitionsMax) {
        if (best.disturbance > 1) log.keptDisturbed++
        log.slowness.push(best.slowest)
        return best.measured
      }
      repetitions++
      log.discarded++
    }
  }
}
