import { median } from './statistics.ts'
import type { Yardstick } from './yardstick.ts'

/** Forwards and backwards in turn (ABC CBA ABC …), so that a drift of the machine meets all alike. */
export function abbaOrder<T>(variants: readonly T[], turns: number): T[] {
  return Array.from({ length: turns }, (_, turn) =>
    turn % 2 === 0 ? variants : variants.toReversed(),
  ).flat()
}

/** What a measurement must tell so that it can be measured again. */
export interface Disturbance {
  /** Share of all processors that others used meanwhile, from 0 to 1. */
  foreignShare: number
  /**
   * Of the load generator, where there is a load. It does the same work for every event of an item, so
   * this tells how fast the machine was meanwhile.
   */
  cpuPerEvent?: { load: number }
}

/** How much a round may be disturbed before it is measured again, or counts as disturbed. */
export interface DisturbanceLimits {
  /** Share of all processors that others may use meanwhile, from 0 to 1. */
  foreignShareMax: number
  /**
   * How many times as slow as at its fastest the machine may be: before or after it by the yardstick
   * (yardstick.ts), during it by the load generator.
   */
  slownessMax: number
}

/** How quiet the machine was. */
export interface RoundsSummary {
  /** Rounds that count. */
  rounds: number
  /** Those of them that were disturbed. */
  disturbed: number
  /** Further tries, whether they count or not. */
  repeated: number
  /** How many times as slow as at its fastest the machine was, over the rounds that count. */
  slowness: { median: number; max: number }
}

export interface Rounds {
  /**
   * Measures each in the given order, and then again those that were disturbed the most, as often as
   * `repetitions` allows: so a run ends in time on a machine that is never quiet. Of several tries of
   * a round the least disturbed one counts.
   *
   * @returns the measurements in the given order
   */
  measure<T, M extends Disturbance>(
    order: readonly T[],
    measure: (item: T) => Promise<M>,
    repetitions: number,
  ): Promise<M[]>
  summary(): RoundsSummary
}

/** Of a suite, for rounds on which there is a requirement. Others are not repeated. */
export const judgedRepetitions = 3

interface Try<M> {
  measured: M
  /** The longer one of the yardstick's times before and after it. */
  yardstickMs: number
  fastest: Fastest
}

/** What the load generator has used per event at the least, over all tries of an item. */
interface Fastest {
  loadCpu: number
}

export function createRounds(options: DisturbanceLimits & { yardstick: Yardstick }): Rounds {
  const { foreignShareMax, slownessMax, yardstick } = options
  const kept: Try<Disturbance>[] = []
  let repeated = 0
  let fastestMs = Infinity

  const slowness = ({ measured, yardstickMs, fastest }: Try<Disturbance>) =>
    Math.max(yardstickMs / fastestMs, (measured.cpuPerEvent?.load ?? 0) / fastest.loadCpu)
  /** Above 1, one of the limits is exceeded. */
  const disturbance = (one: Try<Disturbance>) =>
    Math.max(one.measured.foreignShare / foreignShareMax, (slowness(one) - 1) / (slownessMax - 1))

  async function look(): Promise<number> {
    const now = await yardstick()
    fastestMs = Math.min(fastestMs, now)
    return now
  }

  async function tryOnce<M extends Disturbance>(
    measure: () => Promise<M>,
    fastest: Fastest,
  ): Promise<Try<M>> {
    const before = await look()
    const measured = await measure()
    fastest.loadCpu = Math.min(fastest.loadCpu, measured.cpuPerEvent?.load ?? Infinity)
    return { measured, yardstickMs: Math.max(before, await look()), fastest }
  }

  return {
    async measure(order, measure, repetitions) {
      const fastest = new Map(order.map((item) => [item, { loadCpu: Infinity }]))
      const attempt = (item: (typeof order)[number]) =>
        tryOnce(() => measure(item), fastest.get(item) as Fastest)
      const rounds = []
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
