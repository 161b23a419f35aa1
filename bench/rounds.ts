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

export interface RoundsLog {
  discarded: number
  /** Rounds that were disturbed at every try and are counted all the same. */
  keptDisturbed: number
}

const triesMax = 3
/** Of a whole run, so that it ends in time on a machine that is never quiet. */
const discardsMax = 12

/**
 * Measures until a try was not disturbed, three times at most, and twelve repetitions in a whole run
 * at most; then the least disturbed one counts.
 *
 * @param options.foreignShareMax share of all processors that others may use
 * @param options.log counts what was discarded
 */
export async function measureUndisturbed<M extends Disturbance>(
  measure: () => Promise<M>,
  options: { foreignShareMax: number; log: RoundsLog },
): Promise<M> {
  const { foreignShareMax, log } = options
  let best: M | undefined
  for (let tries = 1; tries <= triesMax; tries++) {
    const measured = await measure()
    if (best === undefined || measured.foreignShare < best.foreignShare) best = measured
    if (best.foreignShare <= foreignShareMax) return best
    if (tries === triesMax || log.discarded >= discardsMax) break
    log.discarded++
  }
  log.keptDisturbed++
  return best as M
}
