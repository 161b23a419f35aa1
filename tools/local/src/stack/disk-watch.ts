import { statfsSync } from 'node:fs'

const intervalMs = 2_000

export interface DiskWatch {
  stop(): void
}

/**
 * Prints one line when the disk of the data directory becomes full, and one line when the disk has
 * room again.
 *
 * @param options.fullBelowBytes the disk counts as full when fewer bytes than this are free, and
 * has room again when twice as many are free
 */
export function watchDisk(options: {
  dataDir: string
  fullBelowBytes: number
  say: (line: string) => void
  /** Called when the disk has room again. */
  onRoom: () => void
}): DiskWatch {
  const { dataDir, fullBelowBytes, say, onRoom } = options
  let full = false

  function check() {
    const free = readFreeBytes(dataDir)
    if (full ? free < 2 * fullBelowBytes : free >= fullBelowBytes) return
    full = !full
    say(
      full
        ? `The disk of ${dataDir} is full: records are refused or wait until there is room. No accepted record is lost.`
        : `The disk of ${dataDir} has room again.`,
    )
    if (!full) onRoom()
  }

  const timer = setInterval(check, intervalMs)
  check()
  return { stop: () => clearInterval(timer) }
}

/**
 * Returns the free bytes of the disk. Returns 0 if no further file can be created, and Infinity if
 * the free bytes cannot be read.
 */
function readFreeBytes(dataDir: string): number {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dataDir)
    return files > 0 && ffree === 0 ? 0 : bavail * bsize
  } catch {
    return Infinity
  }
}
