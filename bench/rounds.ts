import { median } from './statistics.ts'

/** Forwards and backwards in turn (ABC CBA ABC …), so that a drift of the machine meets all alike. */
export function abbaOrder<T>(variants: readonly T[], turns: number): T[] {
  return Array.from({ length: turns }, (_, turn) =>
    turn % 2 === 0 ? variants : variants.toReversed(),
  ).flat()
}

/** Measures each, once. */
export async function measureEach<T, M>(
  order: readonly T[],
  measure: (item: T) => Promise<M>,
): Promise<M[]> {
  const measured: M[] = []
  for (const item of order) measured.push(await measure(item))
  return measured
}

/** What a measurement must tell so that it can be measured again. */
export interface Disturbance {
  /** Share of all processors that others used meanwhile, from 0 to 1. */
  foreignShare: number
  /**
   * Of what makes the load, in microseconds. It does much the same for every event of an item, so it
   * tells how fast the machine was.
   */
  cpuPerEvent?: { load: number }
}

/** How much a round may be disturbed before it is measured again, or counts as disturbed. */
export interface DisturbanceLimits {
  /** Share of all processors that others may use meanwhile, from 0 to 1. */
  foreignShareMax: number
  /** The load generator's CPU per event, as a multiple of the least of the same item. */
  slownessMax: number
}

export interface RoundsOptions extends DisturbanceLimits {
  /** How many disturbed rounds are measured again, of all that are measured together. */
  repetitions: number
}

/** How quiet the machine was in the rounds on which there is a requirement. */
export interface RoundsSummary {
  /** Rounds that count. */
  rounds: number
  /** Those of them that were disturbed. */
  disturbed: number
  /** Further tries, whether they count or not. */
  repeated: number
  /** The load generator's CPU per event, as a multiple of the least of the same item. */
  slowness: { median: number; max: number }
}

export interface Rounds {
  /**
   * Measures each in the given order, and then again those that were disturbed the most, as often as
   * `repetitions` allows: so a run ends in time on a machine that is never quiet. Of several tries of
   * a round the least disturbed one counts. Rounds of the same (`===`) item are compared.
   *
   * @param repetitions instead of the run's
   * @returns the measurements in the given order
   */
  measure<T, M extends Disturbance>(
    order: readonly T[],
    measure: (item: T) => Promise<M>,
    repetitions?: number,
  ): Promise<M[]>
  summary(): RoundsSummary
}

interface Try<M> {
  measured: M
  /** Of all tries of its item. */
  least: { load: number }
}

export function createRounds(options: RoundsOptions): Rounds {
  const { foreignShareMax, slownessMax } = options
  const kept: Try<Disturbance>[] = []
  let repeated = 0

  const slowness = ({ measured, least }: Try<Disturbance>) =>
    measured.cpuPerEvent === undefined ? 1 : measured.cpuPerEvent.load / least.load
  /** Above 1, one of the limits is exceeded. */
  const disturbance = (one: Try<Disturbance>) =>
    Math.max(one.measured.foreignShare / foreignShareMax, (slowness(one) - 1) / (slownessMax - 1))

  return {
    async measure<T, M extends Disturbance>(
      order: readonly T[],
      measure: (item: T) => Promise<M>,
      repetitions = options.repetitions,
    ) {
      const leastOf = new Map(order.map((item) => [item, { load: Infinity }]))
      const attempt = async (item: T): Promise<Try<M>> => {
        const measured = await measure(item)
        const least = leastOf.get(item) as { load: number }
        least.load = Math.min(least.load, measured.cpuPerEvent?.load ?? Infinity)
        return { measured, least }
      }
      const rounds: { item: T; best: Try<M> }[] = []
      for (const item of order) rounds.push({ item, best: await attempt(item) })
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const [worst] = rounds.toSorted((a, b) => disturbance(b.best) - disturbance(a.best))
        if (worst === undefined || disturbance(worst.best) <= 1) break
        const again = await attempt(worst.item)
        if (disturbance(again) < disturbance(worst.best)) worst.best = again
        repeated++
      }
      kept.push(...rounds.map(({ best }) => best))
      return rounds.map(({ best }) => best.measured)
    },
    summary() {
      const all = kept.map(slowness)
      return {
        rounds: kept.length,
        disturbed: kept.filter((one) => disturbance(one) > 1).length,
        repeated,
        slowness: { median: median(all), max: Math.max(...all) },
      }
    },
  }
}
