import { readFileSync, readdirSync } from 'node:fs'

/** The shortest interval between two readings. */
const everyMs = 50

/**
 * Creates a function that returns how many milliseconds the threads of some processes have waited
 * for a CPU since the function was first called. Returns 0 if the system does not report waits. A
 * duration minus this wait is the time that the processes themselves took, even on a busy machine.
 *
 * @param pids returns the ids of the processes; may return other processes each time
 */
export function createCpuWait(pids: () => number[]): () => number {
  const seen = new Map<number, number>()
  let totalMs = 0
  let askedAt: number | undefined

  return () => {
    const now = performance.now()
    if (askedAt !== undefined && now - askedAt < everyMs) return totalMs
    for (const pid of pids()) {
      const waitedMs = waitOf(pid)
      const before = seen.get(pid) ?? (askedAt === undefined ? waitedMs : 0)
      seen.set(pid, waitedMs)
      totalMs += Math.max(0, waitedMs - before)
    }
    askedAt = now
    return totalMs
  }
}

/**
 * Returns how long the threads of a process have waited for a CPU, in milliseconds. Linux reports
 * three numbers for each thread: nanoseconds on a CPU, nanoseconds of waiting for a CPU, and time
 * slices.
 */
function waitOf(pid: number): number {
  try {
    const threads = readdirSync(`/proc/${pid}/task`)
    return threads.reduce((sum, thread) => {
      const [, waitedNs] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
      return sum + Number(waitedNs) / 1e6
    }, 0)
  } catch {
    return 0 // not Linux, or the process is exiting
  }
}
