import type { Test } from 'tap'
import { createCpuWait } from '../faults/kit/cpu-wait.ts'

/**
 * Measures how long something takes, less the time for which this process and the given ones waited
 * for a processor: a limit for that holds on a busy machine too.
 *
 * @returns the milliseconds since the start
 */
export function startStopwatch(t: Test, pids: (number | null)[] = []): () => number {
  const processes = [process.pid, ...pids.filter((pid) => pid !== null)]
  const cpuWaitMs = createCpuWait(() => processes)
  const began = performance.now() - cpuWaitMs()
  const timer = setInterval(cpuWaitMs, 100) // what a process that ends has waited is seen before
  t.teardown(() => clearInterval(timer))
  return () => performance.now() - cpuWaitMs() - began
}
