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
      // Ignores a process that has exited. The code that waits for the work of this process detects
      // the exit.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
