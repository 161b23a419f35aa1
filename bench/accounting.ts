import { availableParallelism } from 'node:os'
import { readMachineCpu, readProcessCpu } from './cpu.ts'

/** Who uses CPU; every process that the bench started plays one of these parts. */
export const parts = ['gateway', 'redis', 'worker', 'clickhouse', 'load', 'other'] as const
export type Part = (typeof parts)[number]

/** CPU seconds by part. */
export type CpuByPart = Record<Part, number>

export interface Account {
  /** Seconds that passed. */
  elapsed: number
  cpu: CpuByPart
  /** Share of all processors that was used by anything but the bench, from 0 to 1. */
  foreignShare: number
}

/**
 * Opens an account of the CPU that is used from now on.
 *
 * @param pids of every process of the bench; what others than these use is foreign
 */
export function openAccount(pids: Record<Part, number[]>): { close(): Account } {
  const begin = read(pids)
  return {
    close() {
      const end = read(pids)
      const elapsed = (end.at - begin.at) / 1_000
      const cpu = Object.fromEntries(
        parts.map((part) => [part, end.cpu[part] - begin.cpu[part]]),
      ) as CpuByPart
      const ours = parts.reduce((sum, part) => sum + cpu[part], 0)
      const foreign = end.machine - begin.machine - ours
      return { elapsed, cpu, foreignShare: Math.max(0, foreign / elapsed / availableParallelism()) }
    },
  }
}

function read(pids: Record<Part, number[]>): { at: number; machine: number; cpu: CpuByPart } {
  const { busy, stolen } = readMachineCpu()
  const cpu = Object.fromEntries(
    parts.map((part) => [part, pids[part].reduce((sum, pid) => sum + readProcessCpu(pid), 0)]),
  ) as CpuByPart
  return { at: performance.now(), machine: busy + stolen, cpu }
}
