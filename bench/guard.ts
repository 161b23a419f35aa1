// A quick check of the cost of an event: Intake against `bare` and `naive` in one run, so that the speed
// of the machine does not matter. Prints one line per ratio; exits with 1 if one exceeds its limit with
// margin. It finds a path that has become much more expensive; for a few percent use `npm run bench`.
import { openBench, type BenchOptions } from './bench.ts'
import { capacityRatios } from './capacity-ratios.ts'
import { withOwner } from './owner.ts'
import { median } from './statistics.ts'
import { measureCosts } from './suites/capacity.ts'

/** How far a ratio may exceed its limit: rounds are short, and other programs may be running. */
const margin = 1.6

try {
  const ratios = await withOwner(async (owner, dataDir) => {
    const options: BenchOptions = {
      quick: true,
      rounds: 3,
      seconds: 1.5,
      warmUpSeconds: 4,
      variants: ['intake', 'bare', 'naive'],
      // Ratios of CPU times are accurate enough here, even on a busy machine.
      foreignShareMax: 1,
      slownessMax: Infinity,
      repetitions: 0,
      soakMinutes: 0,
      rows: 0,
      profileDir: undefined,
    }
    const bench = await openBench({ dataDir, owner, options })
    return capacityRatios(await measureCosts(bench))
  })
  for (const { what, values, limit } of ratios) {
    const value = median(values)
    const beyond = !(value > 0 && value <= limit * margin)
    if (beyond) process.exitCode = 1
    const verdict = beyond ? 'BEYOND' : 'ok'
    console.log(
      `bench:guard ${verdict}: ${what}: ${value.toFixed(3)}, ` +
        `limit ${limit.toFixed(3)}, with margin ${(limit * margin).toFixed(3)}`,
    )
  }
} catch (error) {
  console.error(error)
  process.exitCode = 1
}
