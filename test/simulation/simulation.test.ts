import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { copyBuilt } from '@intake/test-kit/built-copy'
import { loadCode, realCode as code } from './code.ts'
import { addCoverage, occasions } from './coverage.ts'
import { rightDesign, type Design } from './design.ts'
import { plantedCode } from './planted-code.ts'
import { search, trace } from './search.ts'
import { readSeeds, replayCommand } from './seeds.ts'
import { designOf, harmlessDesigns, wrongDesigns } from './wrong-designs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const seeds = readSeeds(process.env)

if (seeds.replay) replay(seeds.replay)
else testAll()

function testAll(): void {
  t.comment(`simulation: SIM_BASE=${seeds.base} SIM_SEEDS=${seeds.count}`)
  // The rarest bug breaks its rule in one run of 300, so 2,000 runs would miss it once in 800
  // series.
  const enough = { ...seeds, count: 10_000 }

  t.test('the code keeps its guarantees, and every kind of fault has occurred', async (t) => {
    const { coverage, steps } = await expectNone(t, { design: rightDesign })
    t.comment(`${seeds.count} runs of ${Math.round(steps / seeds.count)} events`)
    const missing = () => occasions.filter((occasion) => coverage[occasion] === 0)
    // The rarest occurs in one run of 13, so it is missing in one of 50 series of 50 runs.
    let runs = seeds.count
    for (; missing().length > 0 && runs < enough.count; runs++) {
      const one = { base: seeds.base + runs, count: 1 }
      addCoverage(coverage, (await expectNone(t, { design: rightDesign, ...one })).coverage)
    }
    for (const occasion of occasions) {
      t.ok(coverage[occasion] > 0, `${occasion}: ${coverage[occasion]} in ${runs} runs`)
    }
  })

  for (const [name, change] of Object.entries(harmlessDesigns)) {
    t.test(`harmless: ${name}`, async (t) => {
      await expectNone(t, { design: designOf(change), count: Math.ceil(seeds.count * 0.1) })
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

  for (const { name, edits, breaks, seed = seeds.base } of plantedCode) {
    t.test(`found in the code, as "${breaks}": ${name}`, async (t) => {
      const copy = mkdtempSync(join(tmpdir(), 'intake-planted-'))
      t.teardown(() => rmSync(copy, { recursive: true }))
      copyBuilt({ root, copy, edits })
      const planted = await loadCode(copy)
      const from = { ...enough, base: seed }
      const wrong = { design: rightDesign, code: planted, seeds: from, rule: breaks }
      const { finding } = await search(wrong)
      t.ok(finding, `found after ${finding?.runs ?? 'more than all'} runs`)
    })
  }

  t.test('the same seed gives the same history, another seed another one', async (t) => {
    const history = (seed: number) => trace({ seed, code, design: rightDesign })
    t.same(await history(seeds.base), await history(seeds.base))
    t.not((await history(seeds.base)).join('\n'), (await history(seeds.base + 1)).join('\n'))
  })
}

/** Fails with the history of the first run that breaks a rule. */
async function expectNone(
  t: Test,
  { design, base = seeds.base, count = seeds.count }: { design: Design } & Partial<typeof seeds>,
) {
  const result = await search({ design, code, seeds: { ...seeds, base, count } })
  if (result.finding === undefined) {
    t.pass(`${count} runs broke no rule`)
    return result
  }
  const { seed, violations } = result.finding
  t.fail(`seed ${seed} broke a rule`, {
    violations: violations.map(({ rule, what }) => `${rule}: ${what}`),
    replay: replayCommand(seed),
    trace: (await trace({ seed, design, code })).join('\n'),
  })
  return result
}

/** Prints one history. Succeeds if it breaks no rule, as in the suite. */
function replay({ seed, designName }: { seed: number; designName: string | undefined }): void {
  const change = { ...harmlessDesigns, ...changes() }[designName ?? '']
  if (designName !== undefined && change === undefined) t.bailout(`No design "${designName}"`)
  t.test(`the history of seed ${seed}, ${designName ?? 'the right design'}`, async (t) => {
    const lines = await trace({ seed, code, design: designOf(change ?? {}) })
    for (const line of lines) t.comment(line)
    const broken = lines.filter((line) => line.includes('  violation: '))
    t.same(broken, [], 'broken rules')
  })
}

function changes(): Record<string, Partial<Design>> {
  return Object.fromEntries(
    Object.entries(wrongDesigns).map(([name, { change }]) => [name, change]),
  )
}
