import t from 'tap'
import { createMeasurements } from '../../guard/measurements.ts'
import { readGuardOptions, type GuardOptions } from '../../guard/options.ts'
import { report } from '../../guard/report.ts'
import { OptionError } from '../../option-values.ts'

const cpu = (main: number, helpers = 0) => ({ main, helpers })
const gateways = (base: number, tree: number) => ({
  base: { gateway: cpu(base - 1, 1) },
  tree: { gateway: cpu(tree - 1, 1) },
})
const options = { ...readGuardOptions([]), base: 'v1.0.0' }

t.test('ratios are those of pairs of passes; one disturbed pass does not count', async (t) => {
  const measurements = createMeasurements(options.only)
  // The machine becomes slower, and the last pass of each process is disturbed.
  for (const pair of [gateways(50, 55), gateways(100, 110), gateways(50, 500)])
    measurements.add(0, pair)
  for (const pair of [gateways(200, 200), gateways(100, 100), gateways(500, 50)])
    measurements.add(1, pair)
  t.same(measurements.ratios('gateway'), [1.1, 1])
  t.same(measurements.typical('gateway', 'base'), cpu(124, 1))
})

t.test('a figure beyond its limit fails the run, unless it was not asked for', async (t) => {
  const reportOn = (only: GuardOptions['only']) => {
    const measurements = createMeasurements(only)
    for (let process = 0; process < 6; process++) {
      measurements.add(process, gateways(70, 70.7))
      measurements.add(process, {
        base: { batch: cpu(20), worker: cpu(6) },
        tree: { batch: cpu(22), worker: cpu(process < 3 ? 5 : 7) },
      })
    }
    return report(measurements, options)
  }
  const all = reportOn(['gateway', 'batch', 'worker'])
  t.equal(all.beyond, true)
  t.match(all.table, /gateway, µs per log \| 69\.0 \+ 1\.0 \| 69\.7 \+ 1\.0 \| 1\.010 \|.* ok \|/)
  t.match(all.table, /batches of 50 .* 1\.100 \| 1\.100–1\.100 \| \*\*beyond\*\* \|/)
  t.match(all.table, /worker, µs per event .* cannot tell \|/)
  const some = reportOn(['gateway', 'worker'])
  t.equal(some.beyond, false)
  t.notMatch(some.table, /batches/)
})

t.test('a wrong option is named', async (t) => {
  t.match(readGuardOptions(['--base', 'main', '--only', 'gateway,idle', '--processes', '3']), {
    base: 'main',
    only: ['gateway', 'idle'],
    processes: 3,
  })
  t.throws(() => readGuardOptions(['--only', 'gatway']), OptionError)
  t.throws(() => readGuardOptions(['--passes', '0']), /--passes takes a number above 0/)
})
