import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import type { SuiteResult } from '../suites/suite.ts'
import { circumstancesMarkdown, type Circumstances } from './machine.ts'
import { checksMarkdown, suiteMarkdown } from './markdown.ts'

export interface Report {
  circumstances: Circumstances
  minutes: number
  suites: SuiteResult[]
}

const resultsDir = fileURLToPath(new URL('../../results/', import.meta.url))

export function reportMarkdown(report: Report): string {
  const { circumstances, minutes, suites } = report
  const checks = suites.flatMap((suite) => suite.checks)
  return `${[
    '# Measured',
    `${circumstancesMarkdown(circumstances)} The run took ${minutes.toFixed(1)} minutes.`,
    `Every acknowledged event was visible exactly once in every round. Cells have the median of the rounds and, in brackets,
the smallest and largest. [How this is measured](../README.md).`,
    checksMarkdown(
      checks.toSorted((a, b) => a.item.localeCompare(b.item, 'en', { numeric: true })),
    ),
    ...suites.map(suiteMarkdown),
  ].join('\n\n')}\n`
}

export function saveReport(name: string, report: Report): void {
  mkdirSync(resultsDir, { recursive: true })
  writeFileSync(join(resultsDir, `${name}.md`), reportMarkdown(report))
}
