import { readFileSync } from 'node:fs'
import t from 'tap'

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')
const report = read('tools/bench/results/latest.md')

/** A cell of the report, by the heading of its table, the first cell of its row, and its column. */
function cell(heading: string, row: string, column: string): string {
  const [, section = ''] = report.split(`\n${heading}`)
  const [names = [], , ...rows] = section
    .split(/^#/m, 1)[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) => line.split('|').map((one) => one.trim()))
  const found = rows.find(([, name]) => name === row)?.[names.indexOf(column)]
  if (found === undefined || found === '') throw new Error(`${heading}: ${row}, ${column}`)
  return found
}

/** The median in a cell, without the range in brackets that follows it. */
const median = (...where: Parameters<typeof cell>) => cell(...where).replace(/ \(.*/, '')

const ofBody = (body: string, column: string) => median('### By body', `${body} B`, column)
const inBatches = (size: number) =>
  median(
    '### Events per second, and microseconds of CPU per event',
    `${size} per request`,
    'gateway',
  )
const waiting = (column: string) => cell('### Buffered in Redis', 'intake', column)
const drained = (what: string, column = 'drain') =>
  median('### Drained at saturation', what, column)
const perFrame = /Intake put ([\d.]+) events into a frame/.exec(report)?.[1]
const ofDirect = /of direct inserts ([\d.]+ ×)/.exec(report)?.[1]
const atLoad = (load: string) => {
  const [row] = new RegExp(`\\| ${load} % .* intake .*`).exec(report) ?? ['']
  return row.split('|')[4]?.trim().replace(/ \(.*/, '')
}

/**
 * The texts that each page must contain, with figures of the report. In a page, a line break may
 * replace a blank.
 */
const pages: Record<string, string[]> = {
  'docs/operations/capacity.md': [
    `| ${perFrame} | ${waiting('memory, B/event')} | ${waiting('accepted/s')} per second to one gateway`,
    `Redis's CPU: ${median('### One after the other: events', 'intake', 'Redis')} µs per event`,
    `of a backlog to a worker, ${drained('Redis CPU, µs/row')} µs`,
    `0.4 KB ${ofBody('400', 'ClickHouse')} µs, 1.3 KB ${ofBody('1300', 'ClickHouse')} µs, ` +
      `4 KB ${ofBody('4000', 'ClickHouse')} µs, 16 KB ${ofBody('16000', 'ClickHouse')} µs`,
    `responses come within ${atLoad('50')} ms, at three quarters within ${atLoad('75')} ms`,
    `| 0.4 KB, single | ${ofBody('400', 'gateway')} |`,
    `| 1.3 KB, single | ${ofBody('1300', 'gateway')} |`,
    `| 4 KB, single | ${ofBody('4000', 'gateway')} |`,
    `| 16 KB, single | ${ofBody('16000', 'gateway')} |`,
    `| 1.3 KB, by 10 | ${inBatches(10)} |`,
    `| 1.3 KB, by 100 | ${inBatches(100)} |`,
    `10,000 × ${ofBody('1300', 'gateway')} ÷ 500,000`,
    `takes ${cell('### Forms', 'gateway CPU, ms/form', 'value')} ms of CPU`,
    `One worker stored ${drained('rows/s')} rows per second, ${ofDirect} what direct inserts`,
    `with ${drained('worker CPU at saturation, µs/row')} µs of CPU per row`,
    `(each ${drained('rows/s')} rows per second;`,
    `More than ${drained('rows/s')} rows per second were not measured in this run`,
  ],
  'docs/operations/scaling.md': [`as ClickHouse accepts: ${ofDirect} direct inserts`],
}

for (const [path, sentences] of Object.entries(pages)) {
  t.test(`the figures of ${path} are those of the last report of the bench`, async (t) => {
    const page = read(path).replaceAll(/\s+/g, ' ')
    for (const sentence of sentences) t.ok(page.includes(sentence), sentence)
  })
}
