import { statfsSync } from 'node:fs'
import { StartError } from '../supervisor/start-error.ts'

const mebibyte = 1024 ** 2

/** @throws {StartError} when the disk of the folder has fewer free bytes than `bytesMin` */
export function checkFreeSpace(dataDir: string, bytesMin: number): void {
  const { bavail, bsize } = statfsSync(dataDir)
  const free = bavail * bsize
  if (free >= bytesMin) return
  const [needed, left] = [Math.ceil(bytesMin / mebibyte), Math.floor(free / mebibyte)]
  throw new StartError(
    `ClickHouse needs ${needed} MiB of free space to start: the disk of ${dataDir} has ${left} MiB.`,
  )
}
