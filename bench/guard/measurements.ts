import type { ThreadCpu } from '../cpu.ts'
import { median } from '../statistics.ts'
import { total } from './thread-account.ts'

/** What can be measured alone. */
export const parts = ['gateway', 'batch', 'worker', 'idle'] as const
export type Part = (typeof parts)[number]

/** What is compared. */
export const figures = {
  gateway: { part: 'gateway', title: 'gateway, µs per log' },
  batch: { part: 'batch', title: 'gateway, µs per event in batches of 50' },
  worker: { part: 'worker', title: 'worker, µs per event' },
  idleGateway: { part: 'idle', title: 'idle gateway, ms per second' },
  idleWorker: { part: 'idle', title: 'idle worker, ms per second' },
} as const satisfies Record<string, { part: Part; title: string }>
export type Figure = keyof typeof figures

/** The earlier build, and that of this tree. */
export const buildNames = ['base', 'tree'] as const
export type BuildName = (typeof buildNames)[number]
export type Both<T> = Record<BuildName, T>

/** What one pass measured: microseconds of CPU per event, or milliseconds per second of an idle process. */
export type Costs = Partial<Record<Figure, ThreadCpu>>

/** The figures of all passes, by pair of processes. */
export interface Measurements {
  /** @param costs of two passes, one right after the other or at the same time */
  add(process: number, costs: Both<Costs>): void
  /** The figures that were measured. */
  figures(): Figure[]
  /** For each pair of processes, the median of the ratios of its passes: this tree ÷ base. */
  ratios(figure: Figure): number[]
  /** The median of the medians of each process. */
  typical(figure: Figure, build: BuildName): ThreadCpu
}

type Pair = Both<ThreadCpu>

export function createMeasurements(): Measurements {
  const all = new Map<Figure, Pair[][]>()
  const pairsOf = (figure: Figure): Pair[][] => {
    const known = all.get(figure) ?? []
    all.set(figure, known)
    return known
  }
  const medians = (figure: Figure, pick: (pair: Pair) => number) =>
    pairsOf(figure).map((pairs) => median(pairs.map(pick)))
  return {
    add(process, { base, tree }) {
      for (const figure of Object.keys(figures) as Figure[]) {
        const pair = { base: base[figure], tree: tree[figure] }
        if (pair.base === undefined || pair.tree === undefined) continue
        ;(pairsOf(figure)[process] ??= []).push(pair as Pair)
      }
    },
    figures: () => (Object.keys(figures) as Figure[]).filter((figure) => all.has(figure)),
    ratios: (figure) => medians(figure, ({ base, tree }) => total(tree) / total(base)),
    typical: (figure, build) => ({
      main: median(medians(figure, (pair) => pair[build].main)),
      helpers: median(medians(figure, (pair) => pair[build].helpers)),
    }),
  }
}
