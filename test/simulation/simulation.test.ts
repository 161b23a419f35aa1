import t, { type Test } from 'tap'
import { occasions } from './coverage.ts'
import { rightDesign, type Design } from './design.ts'
import { search, trace } from './search.ts'
import { readSeeds, replayCommand } from './seeds.ts'
import { designOf, harmlessDesigns, wrongDesigns } from './wrong-designs.ts'

const seeds = readSeeds(process.env)

if (seeds.replay) replay(seeds.replay)
else testAll()

function testAll(): void {
  t.comment(`simulation: SIM_BASE=${seeds.base} SIM_SEEDS=${seeds.count}`)

  t.test('the design keeps its guarantees, and every kind of fault has occurred', (t) => {
    const { coverage, steps } = expectNone(t, { design: rightDesign })
    t.comment(`${seeds.count} runs of ${Math.round(steps / seeds.count)} events`)
    for (const occasion of occasions) {
      t.ok(coverage[occasion] > 0, `${occasion}: ${coverage[occasion]}`)
    }
    t.end()
  })

  for (const [name, change] of Object.entries(harmlessDesigns)) {
    t.test(`harmless: ${name}`, (t) => {
      expectNone(t, { design: designOf(change), share: 0.1 })
      t.end()
    })
  }

  for (const [name, { change, breaks }] of Object.entries(wrongDesigns)) {
    t.test(`found, as "${breaks}": ${name}`, (t) => {
      const { finding } = search({ design: designOf(change), seeds, rule: breaks })
      t.ok(finding, `found after ${finding?.runs ?? 'more than all'} runs`)
      if (finding) t.comment(replayCommand(finding.seed, name))
      t.end()
    })
  }

  t.test('the same seed gives the same history, another seed another one', (t) => {
    const history = () => trace({ seed: seeds.base, design: rightDesign })
    t.same(history(), history())
    t.not(history().join('\n'), trace({ seed: seeds.base + 1, design: rightDesign }).join('\n'))
    t.end()
  })
}

/** Fails with the history of the first run that breaks a rule. */
function expectNone(t: Test, { design, share = 1 }: { design: Design; share?: number }) {
  const count = Math.ceil(seeds.count * share)
  const result = search({ design, seeds: { ...seeds, count } })
  if (result.finding === undefined) {
    t.pass(`${count} runs broke no rule`)
    return result
  }
  const { seed, violations } = result.finding
  t.fail(`seed ${seed} broke a rule`, {
    violations: violations.map(({ rule, what }) => `${rule}: ${what}`),
    replay: replayCommand(seed),
    trace: trace({ seed, design }).join('\n'),
  })
  return result
}

/** Prints one history. Succeeds if it breaks no rule, as in the suite. */
function replay({ seed, designName }: { seed: number; designName: string | undefined }): void {
  const change = { ...harmlessDesigns, ...changes() }[designName ?? '']
  if (designName !== undefined && change === undefined) t.bailout(`No design "${designName}"`)
  t.test(`the history of seed ${seed}, ${designName ?? 'the right design'}`, (t) => {
    const lines = trace({ seed, design: designOf(change ?? {}) })
    for (const line of lines) t.comment(line)
    const broken = lines.filter((line) => line.includes('  verdict: '))
    t.same(broken, [], 'broken rules')
    t.end()
  })
}

function changes(): Record<string, Partial<Design>> {
  return Object.fromEntries(
    Object.entries(wrongDesigns).map(([name, { change }]) => [name, change]),
  )
}
