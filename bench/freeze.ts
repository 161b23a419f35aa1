import type { AppProcess } from './process.ts'

/** Stops processes where they are: they use no CPU and answer nobody until `thaw`. */
export function freeze(processes: readonly AppProcess[]): void {
  for (const { pid } of processes) process.kill(pid, 'SIGSTOP')
}

export function thaw(processes: readonly AppProcess[]): void {
  for (const { pid } of processes) {
    try {
      process.kill(pid, 'SIGCONT')
    } catch (error) {
      // One that has ended is missed by whoever waits for it.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
}
