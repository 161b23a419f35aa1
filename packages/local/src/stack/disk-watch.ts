import { statfsSync } from 'node:fs'

const intervalMs = 2_000

export interface DiskWatch {
  stop(): void
}

/**
 * Reports in one line when the disk of the data directory becomes full, and when it has room again.
 *
 * @param options.fullBelowBytes the disk counts as full if fewer bytes are free. A full disk has
 *   room again when twice as many bytes are free
 */
export function watchDisk(options: {
  dataDir: string
  fullBelowBytes: number
  say: (line: string) => void
  freeBytes?: (dataDir: string) => number
}): DiskWatch {
  const { dataDir, fullBelowBytes, say, freeBytes = readFreeBytes } = options
  let full = false

  function check() {
    const free = freeBytes(dataDir)
    if (full ? free < 2 * fullBelowBytes : free >= fullBelowBytes) return
    full = !full
    say(
      full
        ? `The disk of ${dataDir} is full: records are refused or wait until there is room. No accepted record is lost.`
        : `The disk of ${dataDir} has room again.`,
    )
  }

  const timer = setInterval(check, intervalMs)
  check()
  return { stop: () => clearInterval(timer) }
}

/**
 * The free bytes of the disk: 0 if no further file can be created, Infinity if they cannot be read.
 */
function readFreeBytes(dataDir: string): number {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dataDir)
    return files > 0 && ffree === 0 ? 0 : bavail * bsize
  } catch {
    return Infinity
  }
}
