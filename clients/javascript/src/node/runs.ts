import { readFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'

/**
 * The time at which a process started, in clock ticks since the machine started; 0 if the system
 * does not report it. It distinguishes a process from an ended process with the same id, even after
 * a restart of the machine or of a container.
 */
function startOf(pid: number): number {
  try {
    // The second field is the name of the program, in parentheses, and may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop()!.split(' ')
    return Number(fields[19]) || 0
  } catch {
    return 0
  }
}

const ownStart = startOf(process.pid)

/** Identifies this thread at the end of the name of a run, and in the names of temporary files. */
export const processMark = `-pid${process.pid}-${ownStart}-${threadId}`

/**
 * The runs of clients in this thread that have written files and are not closed. These files may
 * still grow.
 */
const liveRuns = new Set<string>()

/** Adds the run that owns a segment to `liveRuns`, and returns the name of the run. */
export function keepRun(name: string): string {
  const run = name.split('.')[3] ?? ''
  liveRuns.add(run)
  return run
}

export const endRun = (run: string): void => void liveRuns.delete(run)

/**
 * Whether the file of this name belongs to a running client. A client in another thread of this
 * process counts as running, because its state is not known. Its files are taken over only after
 * the process has ended.
 */
export function isOfLiveProcess(name: string): boolean {
  const [, pid, start, thread] = /^.*-pid(\d+)-(\d+)-(\d+)/.exec(name) ?? []
  if (pid === undefined) return false
  if (Number(pid) !== process.pid || Number(start) !== ownStart)
    return isRunning(Number(pid), Number(start))
  if (Number(thread) !== threadId || name.endsWith('.new')) return true
  return liveRuns.has(name.split('.')[3] ?? '')
}

function isRunning(pid: number, start: number): boolean {
  const found = startOf(pid)
  if (start && found && found !== start) return false
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
