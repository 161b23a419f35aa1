import { readThreadCpu, type ThreadCpu } from '../cpu.ts'
import { median } from '../statistics.ts'

/** The CPU that a process used, and the elapsed time, both in seconds. */
export interface Use {
  elapsed: number
  cpu: ThreadCpu
}

export interface ThreadAccount {
  /** Returns the CPU that the process has used since the account was opened. */
  read(): Use
}

export function openThreadAccount({ pid }: { pid: number }): ThreadAccount {
  const begin = { at: performance.now(), cpu: readThreadCpu(pid) }
  return {
    read: () => ({
      cpu: minus(readThreadCpu(pid), begin.cpu),
      elapsed: (performance.now() - begin.at) / 1_000,
    }),
  }
}

export const minus = (one: ThreadCpu, other: ThreadCpu): ThreadCpu => ({
  main: one.main - other.main,
  helpers: one.helpers - other.helpers,
})

export const times = ({ main, helpers }: ThreadCpu, factor: number): ThreadCpu => ({
  main: main * factor,
  helpers: helpers * factor,
})

export const total = ({ main, helpers }: ThreadCpu): number => main + helpers

export const medianCpu = (all: readonly ThreadCpu[]): ThreadCpu => ({
  main: median(all.map(({ main }) => main)),
  helpers: median(all.map(({ helpers }) => helpers)),
})
