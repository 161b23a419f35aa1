import type { Test } from 'tap'
import { realCode as code } from './code.ts'
import { search, trace } from './search.ts'
import { replayCommand } from './seeds.ts'

/** Simulates `count` seeds. If a run breaks a rule, fails with that run's trace. */
export async function expectNone(t: Test, { base, count }: { base: number; count: number }) {
  const result = await search({ code, seeds: { base, count } })
  if (result.finding === undefined) {
    t.pass(`${count} runs broke no rule`)
    return result
  }
  const { seed, violations } = result.finding
  t.fail(`seed ${seed} broke a rule`, {
    violations: violations.map(({ rule, what }) => `${rule}: ${what}`),
    replay: replayCommand(seed),
    trace: (await trace({ seed, code })).join('\n'),
  })
  return result
}
