import type { Check, SuiteResult, Table } from '../suites/suite.ts'

export function tableMarkdown({ title, head, rows, note }: Table): string {
  const line = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  const separator = head.map((_, column) => (column === 0 ? '---' : '---:'))
  const table = [line(head), line(separator), ...rows.map(line)].join('\n')
  return [`### ${title}`, table, ...(note === undefined ? [] : [note])].join('\n\n')
}

export function checksMarkdown(checks: Check[]): string {
  if (checks.length === 0) return ''
  return tableMarkdown({
    title: 'Requirements',
    head: ['#', 'requirement', 'measured', 'limit', 'result'],
    rows: checks.map(({ item, what, measured, limit, met }) => [
      item,
      what,
      measured,
      limit,
      met === undefined ? 'shown' : met ? 'met' : '**not met**',
    ]),
  })
}

export const suiteMarkdown = ({ title, method, tables }: SuiteResult): string =>
  [`## ${title}`, method, ...tables.map(tableMarkdown)].join('\n\n')
