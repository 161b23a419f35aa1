import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { copyBuilt } from '@intake/test-kit/built-copy'
import { loadCode, realCode as code } from './code.ts'
import { rightDesign } from './design.ts'
import { expectNone } from './expect-none.ts'
import { plantedCode } from './planted-code.ts'
import { search } from './search.ts'
import { readSeeds, replayCommand } from './seeds.ts'
import { designOf, harmlessDesigns, wrongDesigns } from './wrong-designs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seeds = readSeeds(process.env)
t.comment(`simulation: SIM_BASE=${seeds.base} SIM_SEEDS=${seeds.count}`)
// The rarest bug breaks its rule in about one of 100 runs, so 2,000 runs practically always find
// it.
const enough = { ...seeds, count: 2_000 }

for (const [name, change] of Object.entries(harmlessDesigns)) {
  t.test(`harmless: ${name}`, async (t) => {
    const count = Math.ceil(seeds.count * 0.1)
    await expectNone(t, { design: designOf(change), base: seeds.base, count })
  })
}

for (const [name, { change, breaks, seed = seeds.base }] of Object.entries(wrongDesigns)) {
  t.test(`found, as "${breaks}": ${name}`, async (t) => {
    const from = { ...enough, base: seed }
    const wrong = { design: designOf(change), code, seeds: from, rule: breaks }
    const { finding } = await search(wrong)
    t.ok(finding, `found after ${finding?.runs ?? 'more than all'} runs`)
    if (finding) t.comment(replayCommand(finding.seed, name))
  })
}

for (const { name, edits, breaks } of plantedCode) {
  t.test(`found in the code, as "${breaks}": ${name}`, async (t) => {
    const copy = mkdtempSync(join(tmpdir(), 'intake-planted-'))
    t.teardown(() => rmSync(copy, { recursive: true }))
    copyBuilt({ root, copy, edits })
    const planted = await loadCode(copy)
    const wrong = { design: rightDesign, code: planted, seeds: enough, rule: breaks }
    const { finding } = await search(wrong)
    t.ok(finding, `found after ${finding?.runs ?? 'more than all'} runs`)
  })
}
