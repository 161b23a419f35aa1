import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import type { BenchOptions } from '../bench.ts'
import type { DisturbanceLimits, RoundsSummary } from '../rounds.ts'
import type { SuiteResult } from '../suites/suite.ts'
import { number } from './format.ts'
import { circumstancesMarkdown, type Circumstances } from './machine.ts'
import { checksMarkdown, suiteMarkdown } from './markdown.ts'

export interface Report {
  circumstances: Circumstances
  options: Pick<BenchOptions, 'rounds' | 'seconds' | 'foreignShareMax' | 'slownessMax'>
  minutes: number
  rounds: RoundsSummary
  suites: SuiteResult[]
}

const resultsDir = fileURLToPath(new URL('../../results/', import.meta.url))

export function reportMarkdown(report: Report): string {
  const { circumstances, options, minutes, rounds, suites } = report
  const checks = suites.flatMap((suite) => suite.checks)
  return `${[
    '# Measured',
    `${circumstancesMarkdown(circumstances)} The run took ${minutes.toFixed(1)} minutes.`,
    `Every acknowledged event was visible exactly once in every round. Cells have the median of the rounds and, in brackets,
the smallest and largest. [How this is measured](../README.md).`,
    ...(rounds.rounds > 0 ? [roundsMarkdown(rounds, options)] : []),
    checksMarkdown(
      checks.toSorted((a, b) => a.item.localeCompare(b.item, 'en', { numeric: true })),
    ),
    ...suites.map(suiteMarkdown),
  ].join('\n\n')}\n`
}

function roundsMarkdown(
  { rounds, disturbed, repeated, slowness }: RoundsSummary,
  { foreignShareMax, slownessMax }: DisturbanceLimits,
): string {
  return `Of ${rounds} rounds with a limit, ${disturbed} were disturbed (other programs above ${number(foreignShareMax * 100)} % of the
processors, or the load generator above ${slownessMax} times its least CPU per event), ${repeated} were repeated. In the rounds that
count, the load generator used ${slowness.median.toFixed(2)} times its minimum (up to ${slowness.max.toFixed(2)}).`
}

export function saveReport(name: string, report: Report): void {
  mkdirSync(resultsDir, { recursive: true })
  writeFileSync(join(resultsDir, `${name}.md`), reportMarkdown(report))
}
