/**
 * Forwards and backwards in turn (ABC CBA ABC …), so that a drift of the machine meets all alike.
 *
 * @param isInEvery those it does not hold for take part in the first and the last round only, which
 * have the same mean time
 */
export function abbaOrder<T>(
  variants: readonly T[],
  rounds: number,
  isInEvery: (variant: T) => boolean = () => true,
): T[] {
  return Array.from({ length: rounds }, (_, round) => {
    const isWhole = round === 0 || round === rounds - 1
    const taking = variants.filter((variant) => isWhole || isInEvery(variant))
    return round % 2 === 0 ? taking : taking.toReversed()
  }).flat()
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
  /** Rounds that were disturbed at every try and are counted all the same. */
  keptDisturbed: number
}

const triesMax = 3
/** Of one suite, so that a run ends in time on a machine that is never quiet. */
const discardsMax = 2

/**
 * @param options.slowness how much slower than at its fastest the machine is now
 * @param options.log counts what was discarded
 * @returns measures until a try was not disturbed, three times at most, and two repetitions by one
 * such function at most; then the least disturbed one counts
 */
export function repeatDisturbed(
  options: DisturbanceLimits & { slowness: () => number; log: RoundsLog },
): <M extends Disturbance>(measure: () => Promise<M>) => Promise<M> {
  const { foreignShareMax, slownessMax, slowness, log } = options
  let discards = 0
  return async <M extends Disturbance>(measure: () => Promise<M>): Promise<M> => {
    let best: { measured: M; excess: number } | undefined
    for (let tries = 1; tries <= triesMax; tries++) {
      const slownessBefore = slowness()
      const measured = await measure()
      const slowest = Math.max(slownessBefore, slowness())
      const excess = Math.max(measured.foreignShare / foreignShareMax, slowest / slownessMax)
      if (best === undefined || excess < best.excess) best = { measured, excess }
      if (best.excess <= 1) return best.measured
      if (tries === triesMax || discards >= discardsMax) break
      discards++
      log.discarded++
    }
    log.keptDisturbed++
    return (best as NonNullable<typeof best>).measured
  }
}
