import { median } from './statistics.ts'

/**
 * Returns the order of measurements: the items alternately forwards and backwards (ABC CBA ABC …),
 * so that a drift of the machine affects all items alike.
 */
export function abbaOrder<T>(items: readonly T[], turns: number): T[] {
  return Array.from({ length: turns }, (_, turn) => inTurn(items, turn)).flat()
}

const inTurn = <T>(items: readonly T[], turn: number): readonly T[] =>
  turn % 2 === 0 ? items : items.toReversed()

/** Measures the items of `order` one after the other. */
export async function measureEach<T, M>(
  order: readonly T[],
  measure: (item: T) => Promise<M>,
): Promise<M[]> {
  const measured: M[] = []
  for (const item of order) measured.push(await measure(item))
  return measured
}

/** The part of a measurement that shows whether it was disturbed. */
export interface Disturbance {
  /**
   * The share of the machine's CPU time that other programs used during the measurement (0 to 1).
   */
  foreignShare: number
  /**
   * CPU of the load generator per event, in microseconds. In all measurements of one item, the load
   * generator does almost the same work per event. So a higher value shows a slower machine.
   */
  cpuPerEvent?: { load: number }
}

/** Limits above which a round counts as disturbed. */
export interface DisturbanceLimits {
  /**
   * The share of the machine's CPU time that other programs may use during a measurement (0 to 1).
   */
  foreignShareMax: number
  /**
   * The maximum slowness of a round: the load generator's CPU per event, divided by the lowest CPU
   * per event in any round of the same item.
   */
  slownessMax: number
}

export interface RoundsOptions extends DisturbanceLimits {
  /** How many disturbed turns a call of `measure` repeats, at most. */
  repetitions: number
}

/** How quiet the machine was during the rounds of all calls of `measure`. */
export interface RoundsSummary {
  rounds: number
  disturbed: number
  repeated: number
  /** The slowness (see `slownessMax`) of the rounds that count. */
  slowness: { median: number; max: number }
}

export interface Rounds {
  /**
   * Measures all items in turn (ABBA). Then repeats the most disturbed turn if it exceeds a limit,
   * up to `repetitions` times in all, so that a run ends even on a machine that is never quiet. A
   * turn is repeated as a whole, because compared rounds must see the same machine. If a turn was
   * measured several times, the least disturbed measurement counts. The slowness of a round is
   * relative to other rounds of the same (`===`) item.
   *
   * @returns the measurements that count; the n-th one of an item belongs to the n-th turn
   */
  measure<T, M extends Disturbance>(plan: Plan<T>, measure: (item: T) => Promise<M>): Promise<M[]>
  summary(): RoundsSummary
}

/** Items to compare, and the number of turns. Each turn measures every item once. */
interface Plan<T> {
  items: readonly T[]
  turns: number
  /** Overrides `RoundsOptions.repetitions`. */
  repetitions?: number
}

interface Try<M> {
  measured: M
  /** The load generator's lowest CPU per event in any measurement of this item. */
  least: { load: number }
}

export function createRounds(options: RoundsOptions): Rounds {
  const { foreignShareMax, slownessMax } = options
  const kept: Try<Disturbance>[] = []
  let repeated = 0

  const slowness = ({ measured, least }: Try<Disturbance>) =>
    measured.cpuPerEvent === undefined ? 1 : measured.cpuPerEvent.load / least.load
  /** How disturbed a round was. If this is above 1, the round exceeds a limit. */
  const disturbance = (one: Try<Disturbance>) =>
    Math.max(one.measured.foreignShare / foreignShareMax, (slowness(one) - 1) / (slownessMax - 1))
  const worst = (turn: Try<Disturbance>[]) => Math.max(...turn.map(disturbance))

  return {
    async measure<T, M extends Disturbance>(
      { items, turns, repetitions = options.repetitions }: Plan<T>,
      measure: (item: T) => Promise<M>,
    ) {
      const leastOf = new Map(items.map((item) => [item, { load: Infinity }]))
      const attempt = async (item: T): Promise<Try<M>> => {
        const measured = await measure(item)
        const least = leastOf.get(item) as { load: number }
        least.load = Math.min(least.load, measured.cpuPerEvent?.load ?? Infinity)
        return { measured, least }
      }
      const best: { order: readonly T[]; tries: Try<M>[] }[] = []
      for (let turn = 0; turn < turns; turn++) {
        const order = inTurn(items, turn)
        best.push({ order, tries: await measureEach(order, attempt) })
      }
      for (let repetition = 0; repetition < repetitions; repetition++) {
        const [most] = best.toSorted((a, b) => worst(b.tries) - worst(a.tries))
        if (most === undefined || worst(most.tries) <= 1) break
        const again = await measureEach(most.order, attempt)
        repeated += again.length
        if (worst(again) < worst(most.tries)) most.tries = again
      }
      const counting = best.flatMap(({ tries }) => tries)
      kept.push(...counting)
      return counting.map(({ measured }) => measured)
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
