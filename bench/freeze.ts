import type { BenchProcess } from './process.ts'

/** Stops processes with SIGSTOP: they use no CPU and do not respond until `thaw`. */
export function freeze(processes: readonly BenchProcess[]): void {
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP')
}

export function thaw(processes: readonly BenchProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGCONT')
    } catch (error) {
      // The code that awaits the process's work detects that it has exited.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
