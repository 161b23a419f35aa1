import type { Test } from 'tap'
import { realCode as code } from './code.ts'
import type { Design } from './design.ts'
import { search, trace } from './search.ts'
import { replayCommand } from './seeds.ts'

/** Simulates the design with `count` seeds. If a run breaks a rule, fails with that run's trace. */
export async function expectNone(
  t: Test,
  { design, base, count }: { design: Design; base: number; count: number },
) {
  const result = await search({ design, code, seeds: { base, count } })
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
