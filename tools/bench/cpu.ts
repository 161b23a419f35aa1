import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports the CPU time of processes in hundredths of a second, on every architecture. */
const ticksPerSecond = 100

/**
 * CPU seconds that all threads of a process have used since its start, in user and kernel mode.
 * Ended threads are included.
 */
export function readProcessCpu(pid: number): number {
  return parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))
}

/**
 * Returns the CPU seconds in the text of `/proc/<pid>/stat`.
 *
 * @param stat contains the program's name, in which blanks and parentheses may occur
 */
function parseProcessStat(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  // User and system time are fields 14 and 15 in proc(5). `fields` begins with field 3, because
  // field 2 is the name.
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** CPU seconds of a process by thread. */
export interface ThreadCpu {
  /** CPU of the main thread, which in Node runs the event loop. */
  main: number
  /** CPU of all other threads: garbage collection, compilation, the thread pool. */
  helpers: number
}

/** Like `readProcessCpu`, but exact to the nanosecond, and without the CPU of ended threads. */
export function readThreadCpu(pid: number): ThreadCpu {
  const cpu = { main: 0, helpers: 0 }
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const schedstat = readUnlessGone(`/proc/${pid}/task/${thread}/schedstat`)
    if (schedstat === undefined) continue
    cpu[Number(thread) === pid ? 'main' : 'helpers'] += parseSchedstat(schedstat)
  }
  return cpu
}

/**
 * The CPU seconds in the text of `/proc/<pid>/task/<thread>/schedstat`, whose first field is in
 * nanoseconds.
 */
function parseSchedstat(schedstat: string): number {
  return Number(schedstat.split(' ', 1)[0]) / 1e9
}

/** CPU seconds of all processors together. */
export interface MachineCpu {
  /** CPU that was neither idle nor waiting for a disk: user, nice, system, interrupts. */
  busy: number
  /** CPU that other virtual machines took. */
  stolen: number
}

export function readMachineCpu(): MachineCpu {
  return parseMachineStat(readFileSync('/proc/stat', 'utf8'))
}

/** Parses the text of `/proc/stat`. */
function parseMachineStat(stat: string): MachineCpu {
  const [first = ''] = stat.split('\n', 1)
  const ticks = first.trim().split(/\s+/).slice(1).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = ticks
  return {
    busy: (user + nice + system + irq + softirq) / ticksPerSecond,
    stolen: steal / ticksPerSecond,
  }
}

/** Reads a file of `/proc`; undefined if the process or thread has ended. */
function readUnlessGone(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ESRCH') return undefined
    throw error
  }
}
