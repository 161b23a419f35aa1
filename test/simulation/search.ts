import type { Code } from './code.ts'
import { addCoverage, createCoverage, type Coverage } from './coverage.ts'
import type { Seeds } from './seeds.ts'
import { simulate } from './simulate.ts'
import type { Rule, Violation } from './judge.ts'

export interface Finding {
  seed: number
  /** Number of runs, including the one that broke the rule. */
  runs: number
  violations: Violation[]
}

/**
 * Simulates one run for each seed, until a run breaks a rule.
 *
 * @param options.rule the rule that must be broken; default: any rule
 */
export async function search(options: {
  code: Code
  seeds: Pick<Seeds, 'base' | 'count'>
  rule?: Rule
}): Promise<{ finding: Finding | undefined; coverage: Coverage; steps: number }> {
  const { code, seeds, rule } = options
  const coverage = createCoverage()
  let steps = 0
  for (let runs = 1; runs <= seeds.count; runs++) {
    const seed = seeds.base + runs - 1
    const run = await simulate({ seed, code })
    addCoverage(coverage, run.coverage)
    steps += run.steps
    const isFound = run.violations.some((one) => rule === undefined || one.rule === rule)
    if (isFound) {
      return { finding: { seed, runs, violations: run.violations }, coverage, steps }
    }
  }
  return { finding: undefined, coverage, steps }
}

/** Returns the history of one run, one line per event. Random ids are replaced by numbers. */
export async function trace(options: { code: Code; seed: number }): Promise<string[]> {
  const lines: string[] = []
  const numbers = new Map<string, number>()
  const numbered = (id: string) => {
    if (!numbers.has(id)) numbers.set(id, numbers.size + 1)
    return `#${numbers.get(id)}`
  }
  await simulate({ ...options, trace: (line) => lines.push(line.replaceAll(uuid, numbered)) })
  return lines
}

const uuid = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g
