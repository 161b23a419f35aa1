import type { AppProcess } from './process.ts'

/** Stops processes where they are: they use no CPU and answer nobody until `thaw`. */
export function freeze(processes: readonly AppProcess[]): void {
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP')
}

export function thaw(processes: readonly AppProcess[]): void {
  for (const { pid } of processes) process.kill(pid, 'SIGCONT')
}
