import { capabilities } from './adapter.ts'
import type { CaseResult, ConformanceResult } from './run.ts'

const widest = 'not applicable'.length

export function printCase({ title, outcome, seen, requests }: CaseResult): string {
  const indent = ' '.repeat(widest + 2)
  const lines = [`${outcome.padEnd(widest)}  ${title}`]
  if (seen !== undefined) lines.push(`${indent}  ${seen}`)
  return [...lines, ...requests.map((request) => `${indent}    ${request}`)].join('\n')
}

export function printSummary({ sender, capabilities: has, results }: ConformanceResult): string {
  const count = (outcome: CaseResult['outcome']) =>
    results.filter((result) => result.outcome === outcome).length
  const lacks = Object.keys(capabilities).filter((one) => !(has as string[]).includes(one))
  return [
    `${sender}: ${count('passed')} passed, ${count('failed')} failed, ${count('not applicable')} not applicable.`,
    ...(lacks.length > 0 ? [`Without ${lacks.join(', ')}.`] : []),
  ].join('\n')
}
