import { availableParallelism } from 'node:os'
import { readMachineCpu, readProcessCpu } from './cpu.ts'

/** The components that use CPU. */
export const parts = ['gateway', 'redis', 'worker', 'clickhouse', 'load', 'other'] as const
export type Part = (typeof parts)[number]

export type CpuByPart = Record<Part, number>

export interface Account {
  elapsed: number
  cpu: CpuByPart
  /**
   * The share of the machine's CPU time that other programs and other virtual machines used, from 0
   * to 1.
   */
  foreignShare: number
}

/**
 * Starts to count the CPU that processes use.
 *
 * @param pids the processes of the bench; the CPU of all other programs counts as foreign
 * @returns an account whose `read` returns the CPU used since `openAccount` was called
 */
export function openAccount(pids: Record<Part, number[]>): { read(): Account } {
  const begin = readUsed(pids)
  return {
    read() {
      const end = readUsed(pids)
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

function readUsed(pids: Record<Part, number[]>): { at: number; machine: number; cpu: CpuByPart } {
  const { busy, stolen } = readMachineCpu()
  const cpu = Object.fromEntries(
    parts.map((part) => [part, pids[part].reduce((sum, pid) => sum + readProcessCpu(pid), 0)]),
  ) as CpuByPart
  return { at: performance.now(), machine: busy + stolen, cpu }
}
