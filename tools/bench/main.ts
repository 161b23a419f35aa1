import { openBench } from './bench.ts'
import { OptionError } from './option-values.ts'
import { readOptions } from './options.ts'
import { withOwner } from './owner.ts'
import { describeCircumstances } from './report/machine.ts'
import { reportMarkdown, saveReport, type Report } from './report/report.ts'
import { suites } from './suites/index.ts'
import type { SuiteResult } from './suites/suite.ts'

const begin = performance.now()

try {
  const { options, wanted, save, name } = readOptions(process.argv.slice(2))
  const report = await withOwner(async (owner, dataDir): Promise<Report> => {
    const bench = await openBench({ dataDir, owner, options })
    const results: SuiteResult[] = []
    for (const suite of wanted) results.push(await suites[suite]!(bench))
    return {
      circumstances: await describeCircumstances(bench),
      minutes: (performance.now() - begin) / 60_000,
      suites: results,
    }
  })
  if (save) saveReport(name, report)
  console.log(reportMarkdown(report))
} catch (error) {
  console.error(error instanceof OptionError ? error.message : error)
  process.exitCode = 1
}
