import type { Counts } from './kit/checker.ts'
import type { Result } from './run-scenario.ts'

const mark = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' }
const columns: [keyof Counts, string][] = [
  ['acknowledged', 'ack'],
  ['visible', 'visible'],
  ['refused', 'refused'],
  ['unknown', 'unknown'],
  ['redeliveries', 'redelivered'],
  ['duplicateRows', 'raw duplicates'],
  ['partialInserts', 'partial inserts'],
]

export function line({ id, title, status, counts, reasons, ms }: Result): string {
  const seconds = `${(ms / 1000).toFixed(0)} s`
  const numbers = counts && columns.map(([key, name]) => `${name} ${counts[key]}`).join(', ')
  const first = `${mark[status]} ${id.padEnd(5)} ${title} (${seconds})`
  const details = [...(numbers ? [numbers] : []), ...reasons]
  return [first, ...details.map((detail) => `     ${detail}`)].join('\n')
}

function total(results: Result[]): Counts {
  const sum: Counts = {
    issued: 0,
    acknowledged: 0,
    refused: 0,
    unknown: 0,
    visible: 0,
    redeliveries: 0,
    duplicateRows: 0,
    partialInserts: 0,
  }
  for (const { counts } of results) {
    if (!counts) continue
    for (const key of Object.keys(sum) as (keyof Counts)[]) sum[key] += counts[key]
  }
  return sum
}

/**
 * Lists the events that did not happen, although every complete run must cause them at least once.
 * If, for example, no frame was redelivered, the run proves nothing about redelivery.
 */
export function neverHappened(results: Result[]): string[] {
  const sum = total(results)
  const rules: [boolean, string][] = [
    [sum.redeliveries > 0, 'no frame was redelivered'],
    [sum.duplicateRows > 0, 'no row was inserted twice'],
    [sum.partialInserts > 0, 'no insert was stored in part'],
    [sum.unknown > 0, 'no outcome was unknown'],
    [sum.acknowledged >= 1_000, 'fewer than 1,000 records were acknowledged'],
  ]
  return rules.flatMap(([happened, sentence]) => (happened ? [] : [sentence]))
}

export function table(results: Result[]): string {
  const head = ['', 'id', ...columns.map(([, name]) => name), 's']
  const row = ({ status, id, counts, ms }: Pick<Result, 'status' | 'id' | 'counts' | 'ms'>) => [
    mark[status].trim(),
    id,
    ...columns.map(([key]) => String(counts?.[key] ?? '')),
    (ms / 1000).toFixed(0),
  ]
  const status = results.some((one) => one.status === 'failed') ? 'failed' : 'passed'
  const ms = results.reduce((sum, one) => sum + one.ms, 0)
  const rows = [head, ...results.map(row), row({ status, id: 'all', counts: total(results), ms })]
  const widths = head.map((_, at) => Math.max(...rows.map((cells) => cells[at]?.length ?? 0)))
  return rows
    .map((cells) => cells.map((cell, at) => cell.padStart(widths[at] ?? 0)).join('  '))
    .join('\n')
}
