import { statfsSync } from 'node:fs'

const mebibyte = 1024 ** 2

/**
 * How many bytes of its disk the ClickHouse of `npm start` keeps free: 5 %, from 16 to 256 MiB. The
 * embedded engine confirms inserts even if the disk has no room for them. So it refuses inserts and
 * merges that would leave less, does not start with less, and ends with less than half.
 */
export function keptFreeBytes(dataDir: string): number {
  const { blocks, bsize } = statfsSync(dataDir)
  return Math.round(Math.min(Math.max((blocks * bsize) / 20, 16 * mebibyte), 256 * mebibyte))
}
