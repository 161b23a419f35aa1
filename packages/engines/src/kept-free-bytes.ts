import { statfsSync } from 'node:fs'

const mebibyte = 1024 ** 2

/**
 * How much of the disk of a folder ClickHouse leaves free: 5 %, between 16 and 256 MiB. The embedded engine
 * ignores the error of a write for which the disk has no room and confirms the insert. So it must never
 * begin a write that the disk may not hold.
 */
export function keptFreeBytes(dataDir: string): number {
  const { blocks, bsize } = statfsSync(dataDir)
  return Math.round(Math.min(Math.max((blocks * bsize) / 20, 16 * mebibyte), 256 * mebibyte))
}
