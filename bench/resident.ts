import { readResidentBytes } from './cpu.ts'

/** Resident memory of a process at a moment. */
export interface ResidentSample {
  seconds: number
  mebibytes: number
}

/** Reads the resident memory of a process in regular intervals while `work` goes on. */
export async function watchResident<T>(
  { pid, everyMs }: { pid: number; everyMs: number },
  work: () => Promise<T>,
): Promise<{ result: T; samples: ResidentSample[] }> {
  const samples: ResidentSample[] = []
  const begin = performance.now()
  const read = () => {
    const bytes = readResidentBytes(pid)
    // A process that has ended has none; that it has is for the work to notice.
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
