import { randomInt } from 'node:crypto'

export interface Seeds {
  /** The seeds of this test run are `base`, `base + 1` and so on. */
  base: number
  count: number
  /** The seed to replay; undefined if all seeds are tried. */
  replay: number | undefined
}

const baseMax = 1_000_000_000
const defaultCount = 50

/**
 * Every test run tries other seeds; `SIM_SEED` replays a finding.
 * - `SIM_SEED=n` runs only this seed and prints its trace.
 * - `SIM_BASE=n` uses the seeds of an earlier test run. `SIM_SEEDS=n` sets their number.
 */
export function readSeeds(env: Record<string, string | undefined>): Seeds {
  const { SIM_SEED, SIM_BASE, SIM_SEEDS } = env
  return {
    base: SIM_BASE === undefined ? randomInt(1, baseMax) : Number(SIM_BASE),
    count: SIM_SEEDS === undefined ? defaultCount : Number(SIM_SEEDS),
    replay: SIM_SEED === undefined ? undefined : Number(SIM_SEED),
  }
}

/** The command that replays a run. */
export function replayCommand(seed: number): string {
  return `SIM_SEED=${seed} npx tap --reporter=tap test/simulation/simulation.test.ts`
}
