import t from 'tap'
import { realCode as code } from './code.ts'
import { addCoverage, occasions } from './coverage.ts'
import { expectNone } from './expect-none.ts'
import { trace } from './search.ts'
import { readSeeds } from './seeds.ts'

const seeds = readSeeds(process.env)

if (seeds.replay !== undefined) replay(seeds.replay)
else testAll()

function testAll(): void {
  t.comment(`simulation: SIM_BASE=${seeds.base} SIM_SEEDS=${seeds.count}`)
  /** The maximum number of runs. Every kind of event has occurred after far fewer runs. */
  const runsMax = 10_000

  t.test('the code keeps its guarantees, and every kind of fault has occurred', async (t) => {
    const { coverage, steps } = await expectNone(t, seeds)
    t.comment(`${seeds.count} runs of ${Math.round(steps / seeds.count)} events`)
    const missing = () => occasions.filter((occasion) => coverage[occasion] === 0)
    // The rarest kind of event occurs in one of 13 runs. A test with 50 runs lacks it in one of 50
    // cases, and then adds runs.
    let runs = seeds.count
    for (; missing().length > 0 && runs < runsMax; runs++) {
      const one = { base: seeds.base + runs, count: 1 }
      addCoverage(coverage, (await expectNone(t, one)).coverage)
    }
    for (const occasion of occasions) {
      t.ok(coverage[occasion] > 0, `${occasion}: ${coverage[occasion]} in ${runs} runs`)
    }
  })

  t.test('the same seed gives the same history, another seed another one', async (t) => {
    const history = (seed: number) => trace({ seed, code })
    t.same(await history(seeds.base), await history(seeds.base))
    t.not((await history(seeds.base)).join('\n'), (await history(seeds.base + 1)).join('\n'))
  })
}

/** Prints one history. Like the suite, fails if the history breaks a rule. */
function replay(seed: number): void {
  t.test(`the history of seed ${seed}`, async (t) => {
    const lines = await trace({ seed, code })
    for (const line of lines) t.comment(line)
    const broken = lines.filter((line) => line.includes('  violation: '))
    t.same(broken, [], 'broken rules')
  })
}
