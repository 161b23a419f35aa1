import type { ThreadCpu } from '../cpu.ts'
import { median } from '../statistics.ts'
import { medianCpu, total } from './thread-account.ts'

/** The parts of a guard run; `--only` selects some of them. */
export const parts = ['gateway', 'batch', 'form', 'worker', 'idle', 'all'] as const
export type Part = (typeof parts)[number]

/** The figures that are compared, each with the part that measures it. */
export const figures = {
  gateway: { part: 'gateway', title: 'gateway, µs per log' },
  batch: { part: 'batch', title: 'gateway, µs per event in batches of 50' },
  form: { part: 'form', title: 'gateway, µs per form with a picture of 300 kB' },
  worker: { part: 'worker', title: 'worker, µs per event' },
  idleGateway: { part: 'idle', title: 'idle gateway, ms per second' },
  idleWorker: { part: 'idle', title: 'idle worker, ms per second' },
  allLog: { part: 'all', title: 'gateway, Redis, worker + ClickHouse, µs per log' },
  allBatch: {
    part: 'all',
    title: 'gateway, Redis, worker + ClickHouse, µs per event in batches of 100',
  },
  drain: { part: 'all', title: 'drain of a backlog of batches, µs of time per row' },
} as const satisfies Record<string, { part: Part; title: string }>
export type Figure = keyof typeof figures

/** `base` is the earlier build, `tree` the build of this tree. */
export const buildNames = ['base', 'tree'] as const
export type BuildName = (typeof buildNames)[number]
export type Both<T> = Record<BuildName, T>

/**
 * What one pass measured: microseconds of CPU per event, or, for an idle process, milliseconds of
 * CPU per second, or, for a drain, microseconds of time per row.
 */
export type Costs = Partial<Record<Figure, ThreadCpu>>

export interface Measurements {
  figures: readonly Figure[]
  /**
   * Adds the costs of a pair of passes.
   *
   * @param process the index of the pair of processes, from 0
   * @param costs the costs of two passes, one of each build, that ran one right after the other or
   * at the same time
   */
  add(process: number, costs: Both<Costs>): void
  /** Returns one ratio (this tree ÷ base) per pair of processes: the median over its passes. */
  ratios(figure: Figure): number[]
  /** Returns the median over all processes. The value of a process is the median of its passes. */
  typical(figure: Figure, build: BuildName): ThreadCpu
}

export function createMeasurements(wanted: readonly Part[]): Measurements {
  const names = Object.keys(figures) as Figure[]
  const pairs = new Map<Figure, Both<ThreadCpu>[][]>()
  const byProcess = (figure: Figure) => pairs.get(figure) ?? []
  return {
    figures: names.filter((figure) => wanted.includes(figures[figure].part)),
    add(process, costs) {
      for (const figure of names) {
        const [base, tree] = [costs.base[figure], costs.tree[figure]]
        if (base === undefined || tree === undefined) continue
        const known = byProcess(figure)
        pairs.set(figure, known)
        ;(known[process] ??= []).push({ base, tree })
      }
    },
    ratios: (figure) =>
      byProcess(figure).map((own) =>
        median(own.map(({ base, tree }) => total(tree) / total(base))),
      ),
    typical: (figure, build) =>
      medianCpu(byProcess(figure).map((own) => medianCpu(own.map((pair) => pair[build])))),
  }
}
