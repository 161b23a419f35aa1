import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runs } from './runs.ts'

export const smallDisk = join(tmpdir(), `intake-small-disk-${process.pid}`)

/**
 * Mounts a 24 MB disk until this process exits. Returns the reason if that is impossible, otherwise
 * undefined.
 */
export async function mayMount(): Promise<string | undefined> {
  mkdirSync(smallDisk, { recursive: true })
  const problem = await runs('mount', ['-t', 'tmpfs', '-o', 'size=24m', 'tmpfs', smallDisk])
  if (problem !== undefined) return `no small disk can be mounted: ${problem}`
  process.once('exit', () => {
    spawnSync('umount', [smallDisk])
    rmSync(smallDisk, { recursive: true, force: true })
  })
  return undefined
}
