import { statfsSync } from 'node:fs'

const intervalMs = 2_000

/**
 * A full disk has room again when twice as much is free as when it became full. Returns a function
 * that ends the watch.
 */
export function watchDisk(options: {
  dataDir: string
  fullBelowBytes: number
  say: (line: string) => void
  /** Called when the disk has room again. */
  onRoom: () => void
}): () => void {
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
  return () => clearInterval(timer)
}

/** Returns 0 if no further file can be created, Infinity if it cannot be read. */
function readFreeBytes(dataDir: string): number {
  try {
    const { bavail, bsize, files, ffree } = statfsSync(dataDir)
    return files > 0 && ffree === 0 ? 0 : bavail * bsize
  } catch {
    return Infinity
  }
}
