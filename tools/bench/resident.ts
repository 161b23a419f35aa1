import { readResidentBytes } from './cpu.ts'

/** Resident memory of a process, `seconds` after the first sample. */
export interface ResidentSample {
  seconds: number
  mebibytes: number
}

/** Samples the resident memory of a process at regular intervals while `work` runs. */
export async function watchResident<T>(
  { pid, everyMs }: { pid: number; everyMs: number },
  work: () => Promise<T>,
): Promise<{ result: T; samples: ResidentSample[] }> {
  const samples: ResidentSample[] = []
  const begin = performance.now()
  const read = () => {
    const bytes = readResidentBytes(pid)
    // The process has exited. `work` detects that, so nothing needs to be done here.
    if (bytes === undefined) return
    samples.push({
      seconds: (performance.now() - begin) / 1_000,
      mebibytes: bytes / 1024 ** 2,
    })
  }
  read()
  const timer = setInterval(read, everyMs)
  try {
    return { result: await work(), samples }
  } finally {
    clearInterval(timer)
  }
}
