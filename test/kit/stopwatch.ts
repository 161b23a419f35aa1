import type { Test } from 'tap'
import { createCpuWait } from './cpu-wait.ts'

/**
 * Measures elapsed time, minus the time that this process and the processes `pids` waited for a
 * CPU. So a limit on the result holds on a busy machine, too.
 *
 * @returns a function that returns this time since the start, in milliseconds
 */
export function startStopwatch(t: Test, pids: (number | null)[] = []): () => number {
  const processes = [process.pid, ...pids.filter((pid) => pid !== null)]
  const cpuWaitMs = createCpuWait(() => processes)
  const began = performance.now() - cpuWaitMs()
  const timer = setInterval(cpuWaitMs, 100) // reads the wait of a process before it ends
  t.teardown(() => clearInterval(timer))
  return () => performance.now() - cpuWaitMs() - began
}
