import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openBench, type BenchOptions } from './bench.ts'
import { withOwner } from './owner.ts'
import { checksMarkdown, suiteMarkdown } from './report/markdown.ts'
import { batch } from './suites/batch.ts'
import { capacity } from './suites/capacity.ts'
import { feedback } from './suites/feedback.ts'
import { latency } from './suites/latency.ts'
import { outage } from './suites/outage.ts'
import { scale } from './suites/scale.ts'
import type { Suite, SuiteResult } from './suites/suite.ts'
import { variantNames, type VariantName } from './variants.ts'

const suites: Record<string, Suite> = { capacity, latency, outage, scale, batch, feedback }

const { values } = parseArgs({
  options: {
    /** Which suites, by comma; default: all but the soak. */
    suite: { type: 'string', default: Object.keys(suites).join(',') },
    /** Of the capacity suite, by comma. */
    variants: { type: 'string', default: variantNames.join(',') },
    rounds: { type: 'string' },
    seconds: { type: 'string' },
    /** Two rounds of one second: to see that it works, not to measure. */
    quick: { type: 'boolean', default: false },
    /** Share of all processors that others may use during a round, in percent. */
    'foreign-max': { type: 'string', default: '6' },
    /** Folder for CPU profiles of our own gateway and worker. */
    profile: { type: 'string' },
  },
})
const options: BenchOptions = {
  quick: values.quick,
  rounds: Number(values.rounds ?? (values.quick ? 2 : 4)),
  seconds: Number(values.seconds ?? (values.quick ? 1 : 3)),
  variants: values.variants.split(',') as VariantName[],
  foreignShareMax: Number(values['foreign-max']) / 100,
  profileDir: values.profile,
}
const dataDir = mkdtempSync(join(tmpdir(), 'intake-bench-'))
try {
  const results = await withOwner(async (owner) => {
    const bench = await openBench({ dataDir, owner, options })
    const done: SuiteResult[] = []
    for (const name of values.suite.split(',')) {
      const suite = suites[name]
      if (suite === undefined) throw new Error(`there is no suite ${name}`)
      done.push(await suite(bench))
    }
    console.error(`${bench.rounds.discarded} rounds discarded`)
    return done
  })
  console.log(results.map(suiteMarkdown).join('\n\n'))
  console.log(`\n${checksMarkdown(results.flatMap(({ checks }) => checks))}`)
} finally {
  await rm(dataDir, { recursive: true, force: true })
}
