import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Test } from 'tap'

const silenceMs = 20_000

/**
 * Checks a property for many random values, and reports how many values were checked.
 * `PROPERTY_RUNS` multiplies the number of runs. To repeat a failure, set `PROPERTY_SEED` and
 * `PROPERTY_PATH` to the reported seed and path.
 *
 * @param options.runs number of runs for `PROPERTY_RUNS=1`
 */
export async function checkProperty<Value>(
  t: Test,
  options: { runs: number; value: Arbitrary<Value>; holds: (value: Value) => void | Promise<void> },
): Promise<void> {
  const { PROPERTY_RUNS = '1', PROPERTY_SEED, PROPERTY_PATH } = process.env
  const numRuns = Math.ceil(options.runs * Number(PROPERTY_RUNS))
  const property = fc.asyncProperty(options.value, async (value) => options.holds(value))
  const again = PROPERTY_SEED === undefined ? {} : { seed: Number(PROPERTY_SEED) }
  const at = PROPERTY_PATH === undefined ? {} : { path: PROPERTY_PATH }
  const { failed, numShrinks, ...details } = await fc.check(property, {
    numRuns,
    // A value whose check takes too long counts as a failure.
    timeout: silenceMs,
    ...again,
    ...at,
  })
  t.comment(`${details.numRuns} cases, seed ${details.seed}`)
  if (!failed) t.pass(`${numRuns} cases`)
  else {
    t.fail('the property does not hold', {
      shrinks: numShrinks,
      seed: details.seed,
      path: details.counterexamplePath,
      counterexample: fc.stringify(details.counterexample),
      error: String(details.errorInstance),
    })
  }
}
