import { readResidentBytes } from './cpu.ts'

/** Resident memory of a process at a moment. */
export interface ResidentSample {
  seconds: number
  mebibytes: number
}

/** Reads the resident memory of a process in regular intervals until it is stopped. */
export function watchResident(pid: number, everyMs: number): { stop(): ResidentSample[] } {
  const samples: ResidentSample[] = []
  const begin = performance.now()
  const read = () =>
    samples.push({
      seconds: (performance.now() - begin) / 1_000,
      mebibytes: readResidentBytes(pid) / 1024 ** 2,
    })
  read()
  const timer = setInterval(read, everyMs)
  return {
    stop() {
      clearInterval(timer)
      return samples
    },
  }
}
