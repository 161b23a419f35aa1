import type { ThreadCpu } from '../cpu.ts'
import { number } from '../report/format.ts'
import { tableMarkdown } from '../report/markdown.ts'
import { judge, limit } from './judge.ts'
import { figures, type Both, type Costs, type Figure, type Measurements } from './measurements.ts'
import { total } from './thread-account.ts'
import type { GuardOptions } from './options.ts'

export interface Report {
  table: string
  /** Whether any figure is beyond its limit. */
  beyond: boolean
}

export function report(
  measurements: Measurements,
  { base, processes, passes }: GuardOptions & { base: string },
): Report {
  const judged = measurements.figures.map((figure) => ({
    figure,
    ...judge(measurements.ratios(figure)),
  }))
  const confidence = Math.max(...judged.map((one) => one.confidence))
  const table = tableMarkdown({
    title: `CPU of this tree, compared with ${base}`,
    head: ['', base, 'this tree', 'ratio', 'bounds', `limit ${limit}`],
    rows: judged.map(({ figure, ratio, low, high, verdict }) => [
      figures[figure].title,
      threads(measurements.typical(figure, 'base')),
      threads(measurements.typical(figure, 'tree')),
      ratio.toFixed(3),
      `${low.toFixed(3)}–${high.toFixed(3)}`,
      verdict === 'beyond' ? '**beyond**' : verdict,
    ]),
    note: `Main thread + helper threads, unless stated otherwise. Medians of ${processes} pairs of processes with ${passes} pairs of passes each; each bound holds
with a probability of ${(confidence * 100).toFixed(1)} %.`,
  })
  return { table, beyond: judged.some(({ verdict }) => verdict === 'beyond') }
}

export function describePair(wanted: readonly Figure[], { base, tree }: Both<Costs>): string {
  const pairs = wanted.flatMap((figure) => {
    const [before, now] = [base[figure], tree[figure]]
    if (before === undefined || now === undefined) return []
    const ratio = (total(now) / total(before)).toFixed(3)
    return [`${figures[figure].title} ${threads(before)} → ${threads(now)} (${ratio})`]
  })
  return `bench:guard: ${pairs.join('; ')}`
}

const threads = ({ main, helpers }: ThreadCpu) => `${number(main, 1)} + ${number(helpers, 1)}`
