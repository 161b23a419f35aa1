import { readdirSync, readFileSync } from 'node:fs'

export interface GatewayWatch {
  /** Peak memory of the process in MiB. */
  peakMiB(): number
  /** Open files and connections. */
  descriptors(): number
  /** CPU time so far. */
  cpuMs(): number
  /** How long the main thread has waited for a CPU so far. */
  waitMs(): number
  stop(): void
}

const intervalMs = 100
const ticksPerSecond = 100

/**
 * Reads the values from `/proc`, which only Linux has. When the process exits, its last values are
 * kept.
 */
export function watchGateway(pid: number): GatewayWatch {
  let peakMiB = 0
  let descriptors = 0
  let cpuMs = 0
  let waitMs = 0

  const read = () => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8')
      peakMiB = Number(/VmHWM:\s*(\d+)/.exec(status)?.[1] ?? peakMiB * 1024) / 1024
      descriptors = readdirSync(`/proc/${pid}/fd`).length
      // Splits after the name of the program (field 2), because the name may contain spaces. The
      // first element of `stat` is therefore field 3. Fields 14 and 15 are utime and stime.
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
      cpuMs = ((Number(stat[11]) + Number(stat[12])) * 1_000) / ticksPerSecond
      const schedstat = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')
      waitMs = Number(schedstat[1]) / 1_000_000
    } catch {
      // The process has exited, which `run-case.ts` detects.
    }
  }
  const timer = setInterval(read, intervalMs)
  const now =
    <Value>(value: () => Value) =>
    () => {
      read()
      return value()
    }

  return {
    peakMiB: now(() => Math.round(peakMiB)),
    descriptors: now(() => descriptors),
    cpuMs: now(() => cpuMs),
    waitMs: now(() => waitMs),
    stop: () => clearInterval(timer),
  }
}
