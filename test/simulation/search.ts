import { addCoverage, createCoverage, type Coverage } from './coverage.ts'
import type { Design } from './design.ts'
import type { Seeds } from './seeds.ts'
import { simulate } from './simulate.ts'
import type { Rule, Violation } from './verdict.ts'

export interface Finding {
  seed: number
  /** Number of runs until it was found. */
  runs: number
  violations: Violation[]
}

/**
 * Runs the seeds until one breaks a rule.
 *
 * @param options.rule the rule to be broken; any by default
 */
export function search(options: { design: Design; seeds: Seeds; rule?: Rule }): {
  finding: Finding | undefined
  coverage: Coverage
  steps: number
} {
  const { design, seeds, rule } = options
  const coverage = createCoverage()
  let steps = 0
  for (let runs = 1; runs <= seeds.count; runs++) {
    const seed = seeds.base + runs - 1
    const run = simulate({ seed, design })
    addCoverage(coverage, run.coverage)
    steps += run.steps
    const isFound = run.violations.some((one) => rule === undefined || one.rule === rule)
    if (isFound) {
      return { finding: { seed, runs, violations: run.violations }, coverage, steps }
    }
  }
  return { finding: undefined, coverage, steps }
}

/** The history of one run, one line per event. */
export function trace(options: { design: Design; seed: number }): string[] {
  const lines: string[] = []
  simulate({ ...options, trace: (line) => lines.push(line) })
  return lines
}
