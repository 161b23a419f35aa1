import { randomInt } from 'node:crypto'

export interface Seeds {
  /** The seeds of this test run are `base`, `base + 1` and so on. */
  base: number
  count: number
  /**
   * The run to replay; undefined if all seeds are tried. `designName` is the changed design (see
   * `wrong-designs.ts`) that the run simulates; undefined for the design that Intake implements.
   */
  replay: { seed: number; designName: string | undefined } | undefined
}

const baseMax = 1_000_000_000
const defaultCount = 50

/**
 * Every test run tries other seeds; `SIM_SEED` replays a finding.
 * - `SIM_SEED=n` runs only this seed and prints its trace. With `SIM_DESIGN=name`, the run
 * simulates the design of this name in `wrong-designs.ts`.
 * - `SIM_BASE=n` uses the seeds of an earlier test run. `SIM_SEEDS=n` sets their number.
 */
export function readSeeds(env: Record<string, string | undefined>): Seeds {
  const { SIM_SEED, SIM_DESIGN, SIM_BASE, SIM_SEEDS } = env
  return {
    base: SIM_BASE === undefined ? randomInt(1, baseMax) : Number(SIM_BASE),
    count: SIM_SEEDS === undefined ? defaultCount : Number(SIM_SEEDS),
    replay: SIM_SEED === undefined ? undefined : { seed: Number(SIM_SEED), designName: SIM_DESIGN },
  }
}

/** The command that replays a run. */
export function replayCommand(seed: number, designName?: string): string {
  const design = designName === undefined ? '' : ` SIM_DESIGN='${designName}'`
  return `SIM_SEED=${seed}${design} npx tap --reporter=tap test/simulation/simulation.test.ts`
}
