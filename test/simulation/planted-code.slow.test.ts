import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { copyBuilt } from '@intake/test-kit/built-copy'
import { loadCode } from './code.ts'
import { plantedCode } from './planted-code.ts'
import { search } from './search.ts'
import { readSeeds } from './seeds.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seeds = readSeeds(process.env)
t.comment(`simulation: SIM_BASE=${seeds.base} SIM_SEEDS=${seeds.count}`)
// The rarest bug breaks its rule in about one of 100 runs, so 2,000 runs practically always find
// it.
const enough = { ...seeds, count: 2_000 }

for (const { name, edits, breaks } of plantedCode) {
  t.test(`found in the code, as "${breaks}": ${name}`, async (t) => {
    const copy = mkdtempSync(join(tmpdir(), 'intake-planted-'))
    t.teardown(() => rmSync(copy, { recursive: true }))
    copyBuilt({ root, copy, edits })
    const { finding } = await search({
      code: await loadCode(copy),
      seeds: enough,
      rule: breaks,
    })
    t.ok(finding, `found after ${finding?.runs ?? 'more than all'} runs`)
  })
}
