import { statfsSync } from 'node:fs'

const mebibyte = 1024 ** 2

/**
 * How many bytes of a folder's disk the ClickHouse of `npm start` keeps free: 5 %, but at least 16
 * and at most 256 MiB. If the disk has no room for a write, the embedded engine ignores the error
 * and confirms the insert. Therefore the engine refuses inserts and merges that would leave less
 * than this. It does not start when less than this is free, and ends when less than half of this is
 * free.
 */
export function keptFreeBytes(dataDir: string): number {
  const { blocks, bsize } = statfsSync(dataDir)
  return Math.round(Math.min(Math.max((blocks * bsize) / 20, 16 * mebibyte), 256 * mebibyte))
}
