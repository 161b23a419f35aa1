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
    `Every acknowledged event was visible exactly once: the count, the distinct ids and a checksum over
the ids matched in every round; otherwise there would be no report.`,
    ...(rounds.rounds > 0 ? [roundsMarkdown(rounds, options)] : []),
    'How this is measured: [tools/bench/README.md](../README.md).',
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
  return `Of ${rounds} rounds with a limit, ${disturbed} were disturbed: other programs used more than ${number(foreignShareMax * 100)} % of the
processors, or the load generator used more than ${slownessMax} times as much CPU per event as in another round of the same
kind. ${repeated} rounds were repeated, as whole turns. In the rounds that count, the load generator used
${slowness.median.toFixed(2)} times its minimum (median; up to ${slowness.max.toFixed(2)}).`
}

/** Writes the report to `tools/bench/results/<name>.md`. */
export function saveReport(name: string, report: Report): void {
  mkdirSync(resultsDir, { recursive: true })
  writeFileSync(join(resultsDir, `${name}.md`), reportMarkdown(report))
}
