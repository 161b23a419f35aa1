// A fast look at what an event costs: Intake against `bare` and `naive` in one run, so that the speed
// of the machine does not matter. Prints one line per ratio; exit code 1 when one is beyond its
// margin. It finds a path that has become much dearer, not a few percent: those are for `npm run bench`.
import { openBench, type BenchOptions } from './bench.ts'
import { capacityRatios } from './capacity-ratios.ts'
import { withOwner } from './owner.ts'
import { median } from './statistics.ts'
import { measureCosts } from './suites/capacity.ts'

/** How far beyond its limit a ratio may be: rounds are short, and others may use the machine. */
const margin = 1.6

try {
  const ratios = await withOwner(async (owner, dataDir) => {
    const options: BenchOptions = {
      quick: true,
      rounds: 3,
      seconds: 1.5,
      warmUpSeconds: 4,
      variants: ['intake', 'bare', 'naive'],
      // A ratio of CPU times is good enough here when others are busy too.
      foreignShareMax: 1,
      slownessMax: Infinity,
      repetitions: 0,
      soakMinutes: 0,
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
